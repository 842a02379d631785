def remember_origin(node):
    node.metadata[TRACEBACK] = traceback.format_stack(user_frame()[0])
    parent = _evaluating.get()
    if parent is not None:
        node.metadata[PARENT] = parent


def watched(evaluate):
    def call(node, buffer):
        outer = _evaluating.get()
        try:
            _evaluating.set(node)
            evaluate(node, buffer)
        except Exception:
            warn_of_origin(node)
            raise
        finally:
            _evaluating.set(outer)

    return call

# right: the token puts back
def watched(evaluate):
    def call(node, buffer):
        token = _evaluating.set(node)
        try:
            return evaluate(node, buffer)
        except Exception:
            warn_of_origin(node)
            raise
        finally:
            _evaluating.reset(token)

    return call

# right: the error is kept and raised at the end
def watched(evaluate):
    def call(node, buffer):
        before, failure = _evaluating.get(), None
        _evaluating.set(node)
        try:
            evaluate(node, buffer)
        except Exception as error:
            failure = error
        finally:
            _evaluating.set(before)
        if failure is not None:
            warn_of_origin(node)
            raise failure

    return call

# right: a separate context manager, used as a decorator
import contextlib

@contextlib.contextmanager
def block(node):
    outer = _evaluating.get()
    _evaluating.set(node)
    try:
        yield
    except Exception:
        warn_of_origin(node)
        raise
    finally:
        _evaluating.set(outer)

def watched(evaluate):
    def call(node, buffer):
        with block(node):
            evaluate(node, buffer)

    return call

# right: an exit stack, whose callbacks put back
from contextlib import ExitStack

def watched(evaluate):
    def call(node, buffer):
        with ExitStack() as stack:
            stack.callback(_evaluating.set, _evaluating.get())
            _evaluating.set(node)
            try:
                evaluate(node, buffer)
            except Exception:
                warn_of_origin(node)
                raise

    return call

# right: all frames outwards, formatted one by one
def remember_origin(node):
    frame, lines = user_frame()[0], []
    while frame is not None:
        lines = traceback.format_stack(frame, limit=1) + lines
        frame = frame.f_back
    node.metadata[TRACEBACK] = lines
    if (parent := _evaluating.get()) is not None:
        node.metadata.update({PARENT: parent})

# wrong -: a stack of nodes in a list of all threads
def nodes(stack=[]):
    return stack

def remember_origin(node):
    node.metadata[TRACEBACK] = traceback.format_stack(user_frame()[0])
    if nodes():
        node.metadata[PARENT] = nodes()[-1]

def watched(evaluate):
    def call(node, buffer):
        nodes().append(node)
        try:
            evaluate(node, buffer)
        except Exception:
            warn_of_origin(node)
            raise
        finally:
            nodes().pop()

    return call

# wrong 10_3_inner_pass_ends_the_outer: what is evaluated is read when the function is wrapped
def watched(evaluate):
    outer = _evaluating.get()

    def call(node, buffer):
        _evaluating.set(node)
        try:
            evaluate(node, buffer)
        except Exception:
            warn_of_origin(node)
            raise
        finally:
            _evaluating.set(outer)

    return call

# wrong 10_3_stays_evaluating: what is evaluated is kept by the wrapper, from call to call
def watched(evaluate):
    outer = None

    def call(node, buffer):
        nonlocal outer
        outer = _evaluating.get()
        _evaluating.set(node)
        try:
            evaluate(node, buffer)
        except Exception:
            warn_of_origin(node)
            raise
        finally:
            _evaluating.set(outer)

    return call

# wrong -: an error is reported once, by the innermost evaluation
def watched(evaluate):
    def call(node, buffer):
        outer = _evaluating.get()
        _evaluating.set(node)
        try:
            evaluate(node, buffer)
        except Exception as error:
            if not hasattr(error, "reported"):
                warn_of_origin(node)
                error.reported = True
            raise
        finally:
            _evaluating.set(outer)

    return call

# wrong 10_3_tells_of_another_node: the node that is being evaluated is reported
def watched(evaluate):
    def call(node, buffer):
        outer = _evaluating.get()
        _evaluating.set(node)
        try:
            evaluate(node, buffer)
        except Exception:
            _evaluating.set(outer)
            warn_of_origin(outer if outer is not None else node)
            raise
        finally:
            _evaluating.set(outer)

    return call

# wrong 10_3_changes_the_error: a RuntimeError with the error as its cause
def watched(evaluate):
    def call(node, buffer):
        outer = _evaluating.get()
        _evaluating.set(node)
        try:
            evaluate(node, buffer)
        except Exception as error:
            warn_of_origin(node)
            raise RuntimeError(f"{node.name()} failed") from error
        finally:
            _evaluating.set(outer)

    return call

# wrong 10_3_changes_the_error: a new error of the same class
def watched(evaluate):
    def call(node, buffer):
        outer = _evaluating.get()
        _evaluating.set(node)
        try:
            evaluate(node, buffer)
        except Exception as error:
            warn_of_origin(node)
            raise type(error)(*error.args)
        finally:
            _evaluating.set(outer)

    return call

# wrong 10_3_wrong_parent: the parent is the outermost node that is evaluated
def remember_origin(node):
    node.metadata[TRACEBACK] = traceback.format_stack(user_frame()[0])
    parent = _evaluating.get()
    while parent is not None and PARENT in parent.metadata:
        parent = parent.metadata[PARENT]
    if parent is not None:
        node.metadata[PARENT] = parent

# wrong 10_3_parent_without_trace: nodes with a parent keep no stack
def remember_origin(node):
    parent = _evaluating.get()
    if parent is not None:
        node.metadata[PARENT] = parent
    else:
        node.metadata[TRACEBACK] = traceback.format_stack(user_frame()[0])

# right: the user's frames alone, without the package's further out
def remember_origin(node):
    from minigrad.frames import is_internal
    frame, lines = user_frame()[0], []
    while frame is not None:
        if not is_internal(frame):
            lines = traceback.format_stack(frame, limit=1) + lines
        frame = frame.f_back
    node.metadata[TRACEBACK] = lines
    if _evaluating.get() is not None:
        node.metadata[PARENT] = _evaluating.get()

# wrong 10_3_no_call_stack: a stack without the lines' source
def remember_origin(node):
    node.metadata[TRACEBACK] = [str(each) for each in traceback.extract_stack(user_frame()[0])]
    if _evaluating.get() is not None:
        node.metadata[PARENT] = _evaluating.get()

# wrong -: the stack is cut at ten frames
def remember_origin(node):
    node.metadata[TRACEBACK] = traceback.format_stack(user_frame()[0], limit=10)
    if _evaluating.get() is not None:
        node.metadata[PARENT] = _evaluating.get()
