"""Symptoms of stage 10: what a wrong answer does, shown by tiny programs."""

import functools
import warnings

import numpy as np

import minigrad as torch
from minigrad import _state, frames
from minigrad.autograd import anomaly_mode
from minigrad.autograd.anomaly_mode import PARENT, TRACEBACK


def clean(symptom):
    """Start with anomaly mode off and nobody watching, and leave it so."""

    def reset():
        _state.anomaly.enabled, _state.anomaly.check_nan = False, True
        _state.observers.count, _state.observers.on_node = 0, ()
        anomaly_mode._evaluating.set(None)

    @functools.wraps(symptom)
    def checked():
        reset()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return symptom()
        finally:
            reset()

    return checked


# ------------------------------------------------------------------ 10.1


def module_called(name, source, **given):
    """Run `source` as the text of a module of that name and return its names."""
    names = {"__name__": name, **given}
    exec(compile(source, f"<{name}>", "exec"), names)
    return names


def through(*modules):
    """Call user_frame through functions of modules with these names, outermost first."""
    function = frames.user_frame
    for line, name in enumerate(reversed(modules)):  # functions that do not compare equal
        function = module_called(name, "\n" * line + "def call():\n    return function()",
                                 function=function)["call"]
    return function()


def place(*modules):
    frame, depth = through(*modules)
    return frame.f_globals["__name__"], frame.f_code.co_name, depth


def ours(name):
    return frames.is_ours({"__name__": name})


@clean
def symptom_10_1_begins_alike():
    return ours("minigradient") and ours("minigrad") and not ours("torch")


@clean
def symptom_10_1_modules_are_foreign():
    return ours("minigrad") and not ours("minigrad.ops") and not ours("minigrad.tensor.tensor")


@clean
def symptom_10_1_wrong_way_round():
    return not ours("minigrad.tensor.tensor") and ours("torch")


@clean
def symptom_10_1_everything_is_ours():
    return ours("torch") and ours("minigrad")


def tells_names():
    return (ours("minigrad") and ours("minigrad.tensor.tensor") and ours("minigrad.a")
            and not ours("torch")
            and not ours("minigradient") and not ours("minigrad_course.tour"))


@clean
def symptom_10_1_nameless_is_ours():
    try:
        return ours("minigrad") and bool(frames.is_ours({}))
    except KeyError:
        return True


@clean
def symptom_10_1_package_itself_is_foreign():
    return not ours("minigrad") and ours("minigrad.tensor.tensor")


@clean
def symptom_10_1_caller_is_skipped():
    frame, _ = frames.user_frame()
    name = frame.f_code.co_name
    return tells_names() and name == "checked" and place("minigrad.a")[1] == "through"


@clean
def symptom_10_1_always_the_caller():
    return tells_names() and place("minigrad.a")[0] == "minigrad.a"


@clean
def symptom_10_1_one_step_only():
    return (tells_names() and place("minigrad.a")[1] == "through"
            and place("minigrad.a", "minigrad.b", "minigrad.c")[1] != "through")


@clean
def symptom_10_1_outermost_frame():
    name, function, _ = place("minigrad.a")
    return tells_names() and not name.startswith("minigrad.a") and function != "through"


@clean
def symptom_10_1_depth_off_by_one():
    _, function, depth = place("minigrad.a")
    return function == "through" and depth in (1, 3)


@clean
def symptom_10_1_depth_not_counted():
    depths = [place(*["minigrad.a"] * n) for n in (1, 2, 3)]
    return {each[1] for each in depths} == {"through"} and len({each[2] for each in depths}) == 1


@clean
def symptom_10_1_no_user_no_frame():
    if not tells_names():
        return False
    kept = frames.is_ours, frames.is_internal
    frames.is_ours = frames.is_internal = lambda _: True
    try:
        return frames.user_frame()[0] is None
    except (AttributeError, TypeError):
        return True
    finally:
        frames.is_ours, frames.is_internal = kept


# ------------------------------------------------------------------ 10.2


def watching():
    return _state.observers.count, len(_state.observers.on_node)


def flags():
    return _state.anomaly.enabled, _state.anomaly.check_nan


@clean
def symptom_10_2_changes_nothing():
    anomaly_mode.set_anomaly_enabled(True)
    return not _state.anomaly.enabled


@clean
def symptom_10_2_never_watches():
    anomaly_mode.set_anomaly_enabled(True)
    return _state.anomaly.enabled and watching() == (0, 0)


@clean
def symptom_10_2_nodes_are_not_watched():
    anomaly_mode.set_anomaly_enabled(True)
    return watching() == (1, 0)


@clean
def symptom_10_2_observers_pile_up():
    anomaly_mode.set_anomaly_enabled(True)
    once = watching()
    anomaly_mode.set_anomaly_enabled(True)
    return once == (1, 1) and watching() == (2, 2)


@clean
def symptom_10_2_never_leaves():
    anomaly_mode.set_anomaly_enabled(True)
    anomaly_mode.set_anomaly_enabled(False)
    return watching()[0] == 1


@clean
def symptom_10_2_leaves_without_entering():
    try:
        anomaly_mode.set_anomaly_enabled(False)
    except ValueError:
        return True
    return watching()[0] < 0


@clean
def symptom_10_2_ignores_check_nan():
    anomaly_mode.set_anomaly_enabled(True, False)
    return flags() == (True, True)


def switch_works():
    anomaly_mode.set_anomaly_enabled(True, False)
    on = flags(), watching()
    anomaly_mode.set_anomaly_enabled(False)
    return (on, flags(), watching()) == (((True, False), (1, 1)), (False, True), (0, 0))


@clean
def symptom_10_2_set_ignores_the_mode():
    if not switch_works():
        return False
    torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(False)
    return _state.anomaly.enabled


@clean
def symptom_10_2_not_after_an_error():
    if not switch_works():
        return False
    with torch.autograd.detect_anomaly():
        pass
    if _state.anomaly.enabled:
        return False
    try:
        with torch.autograd.detect_anomaly():
            raise KeyError
    except KeyError:
        return _state.anomaly.enabled


@clean
def symptom_10_2_off_keeps_check_nan():
    found = []
    for check_nan in False, True:
        anomaly_mode.set_anomaly_enabled(True, check_nan)
        found.append(flags())
        anomaly_mode.set_anomaly_enabled(False, not check_nan)
        found.append(flags())
    return found == [(True, False), (False, False), (True, True), (False, True)]


@clean
def symptom_10_2_exchanged():
    if not switch_works():
        return False
    with torch.autograd.detect_anomaly():
        pass
    return flags() == (True, False)


@clean
def symptom_10_2_swallows_errors():
    for error in KeyError(), RuntimeError("from the block"):
        try:
            with torch.autograd.detect_anomaly():
                raise error
        except type(error) as raised:
            if raised is not error:
                return False
        else:
            return True
    return False


@clean
def symptom_10_2_set_waits_for_the_block():
    if not switch_works():
        return False
    torch.autograd.set_detect_anomaly(True)
    return not _state.anomaly.enabled


@clean
def symptom_10_2_nothing_is_put_back():
    if not switch_works():
        return False
    with torch.autograd.detect_anomaly():
        entered = _state.anomaly.enabled
    return entered and _state.anomaly.enabled


@clean
def symptom_10_2_set_remembers_too_late():
    if not switch_works():
        return False
    with torch.autograd.detect_anomaly():
        pass
    first = _state.anomaly.enabled
    with torch.autograd.set_detect_anomaly(True):
        pass
    return not first and _state.anomaly.enabled


@clean
def symptom_10_2_off_after_every_block():
    if not switch_works():
        return False
    with torch.autograd.detect_anomaly():
        with torch.autograd.detect_anomaly():
            pass
        return not _state.anomaly.enabled


@clean
def symptom_10_2_check_nan_is_not_put_back():
    if not switch_works():
        return False
    with torch.autograd.detect_anomaly(check_nan=False):
        with torch.autograd.detect_anomaly():
            pass
        return flags() == (True, True)


# ------------------------------------------------------------------ 10.3


def some_node():
    return (torch.ones(1, requires_grad=True) * 2).grad_fn


def outer_function():
    return inner_function()


def inner_function():
    node = some_node()
    anomaly_mode.remember_origin(node)
    return node.metadata.get(TRACEBACK)


@clean
def symptom_10_3_keeps_no_trace():
    return not outer_function()


@clean
def symptom_10_3_called_otherwise():
    seen, node = [], some_node()
    try:
        anomaly_mode.watched(lambda *given: seen.append(given))(node, 5)
    except NotImplementedError:
        raise
    except Exception:
        return not seen
    return seen != [(node, 5)]


@clean
def symptom_10_3_no_call_stack():
    trace = outer_function()
    return isinstance(trace, list) and bool(trace) and not any("File" in line for line in trace)


@clean
def symptom_10_3_trace_is_text():
    return isinstance(outer_function(), str)


@clean
def symptom_10_3_tells_of_interrupts():
    told, kept = [], anomaly_mode.warn_of_origin
    anomaly_mode.warn_of_origin = told.append

    def interrupted(node, buffer):
        raise GeneratorExit

    try:
        anomaly_mode.watched(interrupted)(some_node(), None)
    except GeneratorExit:
        return bool(told) and not symptom_10_3_tells_without_error()
    finally:
        anomaly_mode.warn_of_origin = kept


@clean
def symptom_10_3_tells_of_another_node():
    told, kept = [], anomaly_mode.warn_of_origin
    anomaly_mode.warn_of_origin = told.append
    outer, inner = some_node(), some_node()

    def evaluate(node, buffer):
        if node is inner:
            raise KeyError
        call(inner, None)

    call = anomaly_mode.watched(evaluate)
    try:
        call(outer, None)
    except KeyError:
        return len(told) == 2 and told != [inner, outer]
    finally:
        anomaly_mode.warn_of_origin = kept


@clean
def symptom_10_3_shows_the_package():
    trace = outer_function()
    return isinstance(trace, list) and bool(trace) and "in remember_origin" in trace[-1]


@clean
def symptom_10_3_one_frame_only():
    trace = outer_function()
    return bool(trace) and "inner_function" in trace[-1] and not any(
        "outer_function" in line for line in trace)


@clean
def symptom_10_3_parent_of_none():
    node = some_node()
    anomaly_mode.remember_origin(node)
    return PARENT in node.metadata


def parent_within(evaluated):
    """Return the parent that a node gets which is made while `evaluated` is evaluated."""
    made = some_node()
    anomaly_mode.watched(lambda node, buffer: anomaly_mode.remember_origin(made))(evaluated, None)
    return made.metadata.get(PARENT)


@clean
def symptom_10_3_parent_without_trace():
    node, made = some_node(), some_node()
    anomaly_mode.watched(lambda node, buffer: anomaly_mode.remember_origin(made))(node, None)
    return bool(outer_function()) and PARENT in made.metadata and TRACEBACK not in made.metadata


@clean
def symptom_10_3_no_parents():
    return parent_within(some_node()) is None


@clean
def symptom_10_3_wrong_parent():
    node = some_node()
    parent = parent_within(node)
    node_of_backward = some_node()
    node_of_backward.metadata[PARENT] = node
    later = parent_within(node_of_backward)
    return ((parent is not None and parent is not node)
            or (later is not None and later is not node_of_backward))


@clean
def symptom_10_3_changes_the_error():
    failure = KeyError("failed")
    error = failing_run(failure)[1]
    return error not in (None, failure) and not isinstance(error, NotImplementedError)


@clean
def symptom_10_3_stays_evaluating():
    node, inner = some_node(), some_node()
    anomaly_mode.watched(lambda node, buffer: None)(node, None)
    if anomaly_mode._evaluating.get() is node:
        return True
    call = anomaly_mode.watched(lambda node, buffer: node is inner or call(inner, None))
    call(node, None)
    return anomaly_mode._evaluating.get() is node


@clean
def symptom_10_3_inner_pass_ends_the_outer():
    outer, inner = some_node(), some_node()
    seen = []

    def evaluate(node, buffer):
        seen.append(anomaly_mode._evaluating.get())
        if node is outer:
            call(inner, None)
            seen.append(anomaly_mode._evaluating.get())

    call = anomaly_mode.watched(evaluate)
    call(outer, None)
    return seen == [outer, inner, None]


def failing_run(failure):
    """Run a node whose evaluation fails; return who was told, and what was raised."""
    told, kept = [], anomaly_mode.warn_of_origin
    anomaly_mode.warn_of_origin = told.append
    node = some_node()

    def fail(node, buffer):
        raise failure

    try:
        anomaly_mode.watched(fail)(node, None)
    except BaseException as error:
        return told, error, node
    finally:
        anomaly_mode.warn_of_origin = kept
    return told, None, node


@clean
def symptom_10_3_swallows_errors():
    return failing_run(KeyError("failed"))[1] is None


@clean
def symptom_10_3_tells_nobody():
    told, error, _ = failing_run(KeyError("failed"))
    return isinstance(error, KeyError) and not told


@clean
def symptom_10_3_not_after_an_error():
    anomaly_mode.watched(lambda node, buffer: None)(some_node(), None)
    if anomaly_mode._evaluating.get() is not None:
        return False
    node = failing_run(KeyError("failed"))[2]
    return anomaly_mode._evaluating.get() is node


@clean
def symptom_10_3_tells_without_error():
    told, kept = [], anomaly_mode.warn_of_origin
    anomaly_mode.warn_of_origin = told.append
    try:
        anomaly_mode.watched(lambda node, buffer: None)(some_node(), None)
    finally:
        anomaly_mode.warn_of_origin = kept
    return bool(told)


@clean
def symptom_10_3_does_not_evaluate():
    ran = []
    anomaly_mode.watched(lambda node, buffer: ran.append(buffer))(some_node(), 5)
    return ran != [5]


def symptom_10_3_evaluates_twice():
    ran = []
    anomaly_mode.watched(lambda node, buffer: ran.append(buffer))(some_node(), 5)
    return len(ran) > 1 and set(ran) == {5}


# ------------------------------------------------------------------ 10.4


def family():
    """Return a node with a parent and a grandparent, each with its trace."""
    start = torch.ones(1, requires_grad=True)
    nodes = [each.grad_fn for each in (start * 2, start + 2, start.exp())]
    for name, node in zip(("own", "parent", "grandparent"), nodes, strict=True):
        node.metadata[TRACEBACK] = [f"  outside of {name}\n", f"  line of {name}\n"]
    nodes[0].metadata[PARENT], nodes[1].metadata[PARENT] = nodes[1], nodes[2]
    return nodes


def reports(node):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        anomaly_mode.warn_of_origin(node)
    return caught


def texts(node):
    return [str(each.message) for each in reports(node)]


@clean
def symptom_10_4_missing_trace():
    found = texts(some_node())
    return len(found) == 1 and "No forward pass information" not in found[0]


@clean
def symptom_10_4_another_order():
    found = texts(family()[0])
    told = [name for text in found for name in ("own", "parent", "grandparent")
            if f"line of {name}\n" in text]
    return (len(found) == 3 and sorted(told) == ["grandparent", "own", "parent"]
            and told != ["own", "parent", "grandparent"])


@clean
def symptom_10_4_no_parents():
    found = texts(family()[0])
    return len(found) == 1 and "line of own" in found[0] and "line of parent" not in found[0]


@clean
def symptom_10_4_first_parent_only():
    found = texts(family()[0])
    return len(found) == 2 and "line of parent" in found[1]


@clean
def symptom_10_4_own_trace_for_parents():
    found = texts(family()[0])
    return len(found) == 3 and all("line of own" in text for text in found)


@clean
def symptom_10_4_wrong_trace_for_parents():
    found = texts(family()[0])
    return len(found) == 3 and "line of own" in found[0] and "line of parent" not in found[1]


@clean
def symptom_10_4_raises():
    for node in (family()[2], some_node()):
        try:
            reports(node)
        except Exception as error:
            if "Error detected" in str(error):
                return True
    return False


@clean
def symptom_10_4_goes_on_without_a_trace():
    return len(texts(some_node())) == 2


@clean
def symptom_10_4_stops_at_a_parent_without_trace():
    if len(texts(family()[0])) != 3:
        return False
    node, parent, _ = family()
    del parent.metadata[TRACEBACK]
    return len(texts(node)) != 3


@clean
def symptom_10_4_silent_parent_unexplained():
    node, parent, _ = family()
    del parent.metadata[TRACEBACK]
    found = texts(node)
    return len(found) == 3 and "made while anomaly mode was off" not in found[1]


@clean
def symptom_10_4_one_warning_for_all():
    found = texts(family()[0])
    return len(found) == 1 and "line of own" in found[0] and "line of parent" in found[0]


@clean
def symptom_10_4_same_name_for_all():
    node, parent = some_node(), (torch.ones(1, requires_grad=True) + 2).grad_fn
    for each in (node, parent):
        each.metadata[TRACEBACK] = ["  a line\n"]
    node.metadata[PARENT] = parent
    found = texts(node)
    return len(found) == 2 and "MulBackward0" in found[1] and "AddBackward0" not in found[1]


@clean
def symptom_10_4_parents_as_errors():
    found = texts(family()[0])
    return len(found) > 1 and "Error detected" in found[1]


@clean
def symptom_10_4_points_into_the_package():
    (found,) = reports(family()[2])
    inner = {"__name__": "minigrad.inner", "warn_of_origin": anomaly_mode.warn_of_origin}
    exec(compile("def call(node):\n    warn_of_origin(node)", "inner.py", "exec"), inner)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        inner["call"](family()[2])
    return found.filename != __file__ or [each.filename for each in caught] == ["inner.py"]


# ------------------------------------------------------------------ 10.5

NAN = float("nan")


def found_in(*grads):
    """Return the text of the error that looking for NaN raises, or None."""
    try:
        anomaly_mode.check_nan(some_node(), grads)
    except RuntimeError as error:
        return str(error)
    return None


def finds_plain_nan():
    return found_in(np.array([NAN])) is not None and found_in(np.array([1.0])) is None


@clean
def symptom_10_5_compares_with_nan():
    return all(found_in(np.array(each)) is None for each in ([NAN], [NAN, NAN], [1.0, NAN]))


@clean
def symptom_10_5_tensors_are_skipped():
    return finds_plain_nan() and found_in(torch.tensor([NAN, NAN])) is None


@clean
def symptom_10_5_one_is_not_enough():
    return found_in(np.array([NAN, 1.0])) is None and found_in(np.array([NAN, NAN])) is not None


@clean
def symptom_10_5_infinity_raises():
    return finds_plain_nan() and found_in(np.array([np.inf])) is not None


@clean
def symptom_10_5_all_have_to_be_nan():
    return symptom_10_5_one_is_not_enough() and finds_plain_nan()


@clean
def symptom_10_5_missing_gradients_raise():
    try:
        found_in(None, np.array([1.0]))
    except (AttributeError, TypeError):
        return finds_plain_nan()
    return False


@clean
def symptom_10_5_stops_at_missing():
    return (finds_plain_nan() and found_in(np.array([1.0]), np.array([NAN])) is not None
            and found_in(None, np.array([NAN])) is None)


@clean
def symptom_10_5_first_gradient_only():
    return finds_plain_nan() and found_in(np.array([1.0]), np.array([NAN])) is None


@clean
def symptom_10_5_counts_from_one():
    text = found_in(np.array([NAN]))
    return text is not None and "in its 1th output" in text


@clean
def symptom_10_5_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = found_in(np.array([NAN]))
    return found is None and any("returned nan values" in str(each.message) for each in caught)


@clean
def symptom_10_5_counts_some_alone():
    text = found_in(np.array([1.0]), None, np.array([1]), np.array([NAN]))
    return (text is not None and "in its 3th output" not in text
            and "in its 1th" in str(found_in(np.array([1.0]), np.array([NAN]))))


@clean
def symptom_10_5_marks_all():
    text = found_in(np.array([1.0, NAN, 1.0]))
    return text is not None and "3 of its 3" in text and "1 of its 3" in described(
        [False, True, False])


@clean
def symptom_10_5_last_gradient():
    text = found_in(np.array([NAN]), np.array([NAN]))
    return text is not None and "in its 1th" in text and "in its 0th" in str(
        found_in(np.array([NAN])))


def described(mask):
    return anomaly_mode.describe(np.array(mask))


@clean
def symptom_10_5_another_error():
    try:
        anomaly_mode.check_nan(some_node(), (np.array([NAN]),))
    except RuntimeError:
        return False
    except Exception as error:
        return "returned nan values" in str(error)
    return False
