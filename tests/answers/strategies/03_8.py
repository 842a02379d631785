def queue_callback(callback):
    if not _running.tasks:
        raise RuntimeError(NO_PASS)
    _running.tasks[-1].callbacks.append(callback)

# right: a while loop over the list, all in one try
def _run_here(task, root):
    mode, depth = _state.grad_enabled.get(), len(_running.tasks)
    try:
        _running.tasks.append(task)
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        del _running.tasks[depth:]
        _state.grad_enabled.set(mode)

# right: two finally, pop
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        try:
            _state.grad_enabled.set(task.create_graph)
            _run_nodes(task, root)
            index = 0
            while index < len(task.callbacks):
                call = task.callbacks[index]
                index += 1
                call()
            task.callbacks.clear()
        finally:
            _state.grad_enabled.set(before)
    finally:
        _running.tasks.pop()

def queue_callback(callback):
    try:
        innermost = _running.tasks[-1]
    except IndexError:
        raise RuntimeError(NO_PASS) from None
    innermost.callbacks.append(callback)

# wrong 03_8_callbacks_late_ones_lost: a for loop over a copy
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        queued, task.callbacks = task.callbacks, []
        for call in queued:
            call()
    finally:
        _state.grad_enabled.set(before)
        _running.tasks.pop()

# wrong 03_8_mode_on: the mode is switched on at the end
def _run_here(task, root):
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        _state.grad_enabled.set(True)
        _running.tasks.pop()

# wrong 03_8_callbacks_after_error: the callbacks are called in finally
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
    finally:
        try:
            while task.callbacks:
                task.callbacks.pop(0)()
        finally:
            _state.grad_enabled.set(before)
            _running.tasks.pop()

# wrong 03_8_takes_off_all: the list is cleared
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        _state.grad_enabled.set(before)
        _running.tasks.clear()

# right: an exit stack
def _run_here(task, root):
    from contextlib import ExitStack
    with ExitStack() as after:
        after.callback(_state.grad_enabled.set, _state.grad_enabled.get())
        _running.tasks.append(task)
        after.callback(_running.tasks.remove, task)
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()

def queue_callback(callback):
    for task in reversed(_running.tasks):
        task.callbacks.append(callback)
        return
    raise RuntimeError(NO_PASS)

# right: a for loop that sees what is added to the list
def _run_here(task, root):
    before, tasks = _state.grad_enabled.get(), list(_running.tasks)
    try:
        _running.tasks.append(task)
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        for callback in task.callbacks:
            callback()
        del task.callbacks[:]
    finally:
        _running.tasks[:] = tasks
        _state.grad_enabled.set(before)

def queue_callback(callback):
    *_, innermost = _running.tasks or [None]
    if innermost is None:
        raise RuntimeError(NO_PASS)
    innermost.callbacks.append(callback)

# right: a new list of passes
def _run_here(task, root):
    before, outer = _state.grad_enabled.get(), _running.tasks
    try:
        _running.tasks = [*outer, task]
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            first, *task.callbacks = task.callbacks
            first()
    finally:
        _running.tasks = outer
        _state.grad_enabled.set(before)

def queue_callback(callback):
    if len(_running.tasks) == 0:
        raise RuntimeError(NO_PASS)
    _running.tasks[-1].callbacks.append(callback)

# wrong -: only exceptions of class Exception are expected
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    _state.grad_enabled.set(task.create_graph)
    try:
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    except Exception:
        _running.tasks.pop()
        _state.grad_enabled.set(before)
        raise
    _running.tasks.pop()
    _state.grad_enabled.set(before)

# wrong -: the callbacks run in the mode from before the pass
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        try:
            _run_nodes(task, root)
        finally:
            _state.grad_enabled.set(before)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        _running.tasks.pop()

# wrong 03_8_callbacks_backward: the last callback first
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop()()
    finally:
        _state.grad_enabled.set(before)
        _running.tasks.pop()

# wrong 03_8_mode_untouched: the mode is only switched on, where a graph is asked for
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        if task.create_graph:
            _state.grad_enabled.set(True)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        _state.grad_enabled.set(before)
        _running.tasks.pop()

# wrong -: a callback is queued for each pass that is running
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        _state.grad_enabled.set(before)
        _running.tasks.pop()

def queue_callback(callback):
    if not _running.tasks:
        raise RuntimeError(NO_PASS)
    for task in _running.tasks:
        task.callbacks.append(callback)

# wrong -: the passes that ran before are forgotten if this one fails
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    _state.grad_enabled.set(task.create_graph)
    try:
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
        _running.tasks.pop()
    except BaseException:
        _running.tasks = []
        raise
    finally:
        _state.grad_enabled.set(before)
