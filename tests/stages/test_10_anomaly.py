"""Stage 10: whose frame it is, the switch, what a node remembers, the report, NaN."""

import contextvars
import sys
import traceback
import warnings

import numpy as np
import pytest

import minigrad as torch
from minigrad import _state, backend, frames
from minigrad.autograd import Function, anomaly_mode
from minigrad.autograd.anomaly_mode import PARENT, TRACEBACK
from minigrad.backend import strict


@pytest.fixture(autouse=True)
def switched_off():
    """Leave anomaly mode off and the observers as they were, whatever a test did."""
    before = _state.observers.count, _state.observers.on_node
    yield
    _state.anomaly.enabled, _state.anomaly.check_nan = False, True
    _state.observers.count, _state.observers.on_node = before
    anomaly_mode._evaluating.set(None)


def some_node():
    return (torch.ones(1, requires_grad=True) * 2).grad_fn


# ------------------------------------------------------------------ 10.1


@pytest.mark.hole("10.1")
@pytest.mark.parametrize(("name", "ours"), [
    ("minigrad", True), ("minigrad.tensor.tensor", True), ("minigrad.engine.engine", True),
    ("minigrad_course.tour", False), ("minigrad_course", False),
    ("minigradient", False), ("minigrad_plus.tensor", False), ("torch", False),
    ("__main__", False), ("my.minigrad", False),
], ids=lambda each: each if isinstance(each, str) else "ours" if each else "the user's")
def test_a_module_is_the_packages_by_its_name(name, ours):
    got = frames.is_ours({"__name__": name})
    assert bool(got) is ours, f"expected is_ours to be {ours} for {name!r}, got {got}"


@pytest.mark.hole("10.1")
def test_a_module_without_a_name_is_the_users():
    assert not frames.is_ours({})


def through(*modules):
    """Call user_frame through functions of modules with these names, outermost first."""
    function = frames.user_frame
    for name in reversed(modules):
        names = {"__name__": name, "function": function}
        exec("def call():\n    return function()", names)
        function = names["call"]
    return function()


@pytest.mark.hole("10.1")
def test_a_caller_who_is_the_user_is_the_frame():
    frame, depth = frames.user_frame()
    assert frame is sys._getframe() and depth == 1, f"expected this frame and 1, got {frame, depth}"


@pytest.mark.hole("10.1")
@pytest.mark.parametrize("modules", [
    ("minigrad.a",), ("minigrad.a", "minigrad.b"), ("minigrad.a",) * 5,
], ids=["1", "2", "5"])
def test_the_users_frame_is_found_behind_the_packages(modules):
    frame, depth = through(*modules)
    assert frame.f_code.co_name == "through", f"expected the frame of `through`, got {frame}"
    expected = len(modules) + 1
    assert depth == expected, f"expected depth {expected} for {len(modules)} frames, got {depth}"


@pytest.mark.hole("10.1")
@pytest.mark.parametrize(("modules", "expected"), [
    (("minigrad.a", "users", "minigrad.b"), ("users", 2)),
    (("minigrad.a", "minigrad_course.tour", "minigrad.b", "minigrad.c"),
     ("minigrad_course.tour", 3))], ids=["between the package's", "of the course's examples"])
def test_the_innermost_of_the_users_frames_is_meant(modules, expected):
    frame, depth = through(*modules)
    got = frame.f_globals["__name__"], depth
    assert got == expected, f"expected {expected}, got {got}"


@pytest.mark.hole("10.1")
def test_where_all_is_the_packages_the_caller_is_taken(monkeypatch):
    monkeypatch.setattr(frames, "is_ours", lambda names: True)
    monkeypatch.setattr(frames, "is_internal", lambda frame: True)
    frame, depth = frames.user_frame()
    assert frame is sys._getframe() and depth == 1, f"expected the caller and 1, got {frame, depth}"


@pytest.mark.hole("10.1")
@pytest.mark.parametrize(("names", "ours"), [
    ({"__name__": "user", "__package__": "minigrad"}, False),
    ({"__name__": "minigrad.ops.math", "__package__": "user"}, True),
], ids=["the user's", "ours"])
def test_the_name_of_the_package_is_not_asked(names, ours):
    got = frames.is_ours(names)
    assert bool(got) is ours, f"expected {ours} for {names}, got {got}"


# ------------------------------------------------------------------ 10.2


def expect(enabled, check_nan, when):
    got = _state.anomaly.enabled, _state.anomaly.check_nan
    assert got == (enabled, check_nan), (
        f"expected (enabled, check_nan) = {(enabled, check_nan)} {when}, got {got}")
    watching = _state.observers.on_node.count(anomaly_mode.remember_origin)
    assert watching == int(enabled), (
        f"expected {int(enabled)} observer of new nodes {when}, got {watching}")


def detect(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the mode is slow
        return torch.autograd.detect_anomaly(**options)


@pytest.mark.hole("10.2")
@pytest.mark.parametrize("check_nan", [True, False])
def test_the_switch_sets_both(check_nan):
    torch.set_anomaly_enabled(True, check_nan)
    assert (_state.anomaly.enabled, _state.anomaly.check_nan) == (True, check_nan)
    torch.set_anomaly_enabled(False, check_nan)
    assert (_state.anomaly.enabled, _state.anomaly.check_nan) == (False, check_nan)


@pytest.mark.hole("10.2")
def test_switching_on_enters_one_observer():
    count = _state.observers.count
    torch.set_anomaly_enabled(True)
    expect(True, True, "after switching on")
    assert _state.observers.count == count + 1


@pytest.mark.hole("10.2")
def test_switching_on_twice_enters_one_observer():
    count = _state.observers.count
    torch.set_anomaly_enabled(True)
    torch.set_anomaly_enabled(True, False)
    expect(True, False, "after switching on twice")
    assert _state.observers.count == count + 1


@pytest.mark.hole("10.2")
def test_switching_off_leaves():
    count = _state.observers.count
    torch.set_anomaly_enabled(True)
    torch.set_anomaly_enabled(False)
    expect(False, True, "after switching off")
    assert _state.observers.count == count


@pytest.mark.hole("10.2")
def test_switching_off_what_is_off_leaves_nothing():
    count = _state.observers.count
    torch.set_anomaly_enabled(False)
    expect(False, True, "after switching off what was off")
    assert _state.observers.count == count


@pytest.mark.hole("10.2")
@pytest.mark.parametrize("check_nan", [True, False])
def test_detect_anomaly_is_on_in_its_block(check_nan):
    with detect(check_nan=check_nan):
        expect(True, check_nan, "inside the block")


@pytest.mark.hole("10.2")
@pytest.mark.parametrize("check_nan", [True, False])
def test_detect_anomaly_is_off_after_its_block(check_nan):
    with detect(check_nan=check_nan):
        pass
    expect(False, True, "after the block")


@pytest.mark.hole("10.2")
@pytest.mark.parametrize("kind", [KeyError, RuntimeError, RuntimeWarning, GeneratorExit])
@pytest.mark.parametrize("make", [detect, lambda: torch.autograd.set_detect_anomaly(True)],
                         ids=["detect_anomaly()", "set_detect_anomaly(True)"])
def test_an_error_of_the_block_goes_on(kind, make):
    with pytest.raises(kind, match="from the block"), make():
        raise kind("from the block")
    expect(False, True, "after a block that raised")


@pytest.mark.hole("10.2")
def test_set_detect_anomaly_takes_effect_at_once():
    torch.autograd.set_detect_anomaly(True)
    expect(True, True, "after set_detect_anomaly(True)")
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    expect(True, False, "after set_detect_anomaly(True, check_nan=False)")
    torch.autograd.set_detect_anomaly(False)
    expect(False, True, "after set_detect_anomaly(False)")


@pytest.mark.hole("10.2")
def test_set_detect_anomaly_may_be_a_block():
    with torch.autograd.set_detect_anomaly(True):
        expect(True, True, "in set_detect_anomaly(True)")
    expect(False, True, "after it")


@pytest.mark.hole("10.2")
@pytest.mark.parametrize("inner", [lambda: torch.autograd.set_detect_anomaly(False), detect],
                         ids=["set_detect_anomaly(False)", "detect_anomaly()"])
def test_blocks_put_back_what_was(inner):
    with detect(check_nan=False):
        with inner():
            pass
        expect(True, False, "after the inner block")
    expect(False, True, "after both blocks")


@pytest.mark.hole("10.2")
def test_what_was_is_remembered_when_the_block_is_made():
    block = detect()
    assert (block.prev, block.prev_check_nan) == (False, True)
    with detect(check_nan=False):
        block = detect()
    assert (block.prev, block.prev_check_nan) == (True, False)


# ------------------------------------------------------------------ 10.3


def outer_function():
    return inner_function()


def inner_function():
    node = some_node()
    anomaly_mode.remember_origin(node)  # the line to be shown
    return node


@pytest.mark.hole("10.3")
def test_a_node_remembers_a_list_of_strings():
    trace = outer_function().metadata[TRACEBACK]
    assert isinstance(trace, list), f"expected a list of strings, got {type(trace)}"
    assert all(isinstance(line, str) for line in trace)


@pytest.mark.hole("10.3")
def test_the_stack_ends_with_the_users_line():
    trace = outer_function().metadata[TRACEBACK]
    assert "the line to be shown" in trace[-1], f"expected the user's line last, got {trace[-1]}"


@pytest.mark.hole("10.3")
def test_the_stack_shows_the_callers_of_the_users_line():
    trace = outer_function().metadata[TRACEBACK]
    assert len(trace) > 2, f"expected the whole stack, got {trace}"
    assert "outer_function" in trace[-2], f"expected its caller before it, got {trace[-2]}"
    outermost = traceback.format_stack()[0]
    assert trace[0] == outermost, f"expected the outermost frame first, got {trace[0]}"


@pytest.mark.hole("10.3")
def test_a_node_made_outside_backward_has_no_parent():
    assert PARENT not in outer_function().metadata


@pytest.mark.hole("10.3")
def test_a_node_made_while_another_is_evaluated_has_it_as_parent():
    evaluated, made = some_node(), some_node()
    anomaly_mode.watched(lambda node, buffer: anomaly_mode.remember_origin(made))(evaluated, None)
    assert made.metadata[PARENT] is evaluated
    evaluated.metadata[PARENT] = some_node()  # as in a triple backward
    anomaly_mode.watched(lambda node, buffer: anomaly_mode.remember_origin(made))(evaluated, None)
    assert made.metadata[PARENT] is evaluated, "expected the node itself, not its own parent"


@pytest.mark.hole("10.3")
def test_a_node_made_while_another_is_evaluated_has_a_trace_too():
    made = some_node()
    anomaly_mode.watched(lambda node, buffer: anomaly_mode.remember_origin(made))(some_node(), None)
    assert "remember_origin(made)" in made.metadata[TRACEBACK][-1]


@pytest.mark.hole("10.3")
def test_after_the_evaluation_there_is_no_parent():
    later = some_node()
    anomaly_mode.watched(lambda node, buffer: None)(some_node(), None)
    anomaly_mode.remember_origin(later)
    assert PARENT not in later.metadata, "expected no parent after the evaluation"


@pytest.mark.hole("10.3")
def test_a_backward_within_a_backward():
    first, second, before, within, after = (some_node() for _ in range(5))

    def evaluate(node, buffer):
        if node is second:
            anomaly_mode.remember_origin(within)
            return
        anomaly_mode.remember_origin(before)
        call(second, None)
        anomaly_mode.remember_origin(after)

    call = anomaly_mode.watched(evaluate)
    call(first, None)
    got = [node.metadata[PARENT] for node in (before, within, after)]
    assert got == [first, second, first], "expected the parents first, second, first"
    later = some_node()
    anomaly_mode.remember_origin(later)
    assert PARENT not in later.metadata, "expected no parent after both evaluations"


@pytest.mark.hole("10.3")
def test_another_thread_evaluates_nothing():
    made = some_node()
    anomaly_mode.watched(lambda *_: contextvars.Context().run(  # as in a new thread
        anomaly_mode.remember_origin, made))(some_node(), None)
    assert PARENT not in made.metadata, "expected no parent in another thread"


@pytest.mark.hole("10.3")
def test_watching_hands_on_what_it_gets():
    seen = []
    node = some_node()
    anomaly_mode.watched(lambda *given: seen.append(given))(node, "buffer")
    assert seen == [(node, "buffer")], f"expected one call with node and buffer, got {seen}"


def failed(monkeypatch):
    """Have a node fail; return it, what was told, and the error."""
    told, node, failure = [], some_node(), KeyError("failed")
    monkeypatch.setattr(anomaly_mode, "warn_of_origin", told.append)

    def fail(node, buffer):
        raise failure

    try:
        anomaly_mode.watched(fail)(node, None)
    except NotImplementedError:  # the exercise is open
        raise
    except Exception as error:
        return node, told, error is failure
    return node, told, False


@pytest.mark.hole("10.3")
def test_an_error_goes_on(monkeypatch):
    _, _, same = failed(monkeypatch)
    assert same, "expected the error of `evaluate` itself"


@pytest.mark.hole("10.3")
def test_a_failure_is_told(monkeypatch):
    node, told, _ = failed(monkeypatch)
    assert told == [node], f"expected warn_of_origin to be called once with the node, got {told}"


@pytest.mark.hole("10.3")
def test_after_a_failure_there_is_no_parent(monkeypatch):
    failed(monkeypatch)
    later = some_node()
    anomaly_mode.remember_origin(later)
    assert PARENT not in later.metadata, "expected no parent after the evaluation failed"


@pytest.mark.hole("10.3")
def test_of_two_nodes_the_one_that_failed_is_told_first(monkeypatch):
    told = []
    monkeypatch.setattr(anomaly_mode, "warn_of_origin", told.append)
    outer, inner = some_node(), some_node()

    def evaluate(node, buffer):
        if node is inner:
            raise KeyError("failed")
        call(inner, None)

    call = anomaly_mode.watched(evaluate)
    with pytest.raises(KeyError, match="failed"):
        call(outer, None)
    assert told == [inner, outer], "expected the inner node, then the one around it"


@pytest.mark.hole("10.3")
def test_an_interrupt_is_no_failure_of_the_node(monkeypatch):
    told = []
    monkeypatch.setattr(anomaly_mode, "warn_of_origin", told.append)

    def interrupted(node, buffer):
        raise GeneratorExit  # no Exception either, and pytest goes on

    with pytest.raises(GeneratorExit):
        anomaly_mode.watched(interrupted)(some_node(), None)
    assert told == [], "warn_of_origin is for an Exception alone"
    assert anomaly_mode._evaluating.get() is None


@pytest.mark.hole("10.3")
def test_success_is_not_told(monkeypatch):
    told = []
    monkeypatch.setattr(anomaly_mode, "warn_of_origin", told.append)
    anomaly_mode.watched(lambda node, buffer: None)(some_node(), None)
    assert told == []


# ------------------------------------------------------------------ 10.4


def family():
    """Return a node with a parent and a grandparent, each with its trace."""
    nodes = [some_node() for _ in range(3)]
    for name, node in zip(("own", "parent", "grandparent"), nodes, strict=True):
        node.metadata[TRACEBACK] = [f"  outside of {name}\n", f"  line of {name}\n"]
    nodes[0].metadata[PARENT], nodes[1].metadata[PARENT] = nodes[1], nodes[2]
    return nodes


def reports(node):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        anomaly_mode.warn_of_origin(node)
    return caught


@pytest.mark.hole("10.4")
def test_the_report_shows_the_whole_trace():
    (found,) = reports(family()[2])
    expected = ("Error detected in MulBackward0. Traceback of forward call that caused the error:\n"
                "  outside of grandparent\n  line of grandparent\n")
    assert str(found.message) == expected, f"expected {expected!r}, got {found.message!r}"
    assert found.category is UserWarning


def files_of_reports(node, module, file):
    """Have a module of this name call for the report; return the files that it points at."""
    names = {"__name__": module, "warn_of_origin": anomaly_mode.warn_of_origin}
    exec(compile("def call(node):\n    warn_of_origin(node)", file, "exec"), names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names["call"](node)
    return [each.filename for each in caught]


NODES = pytest.mark.parametrize("make", [lambda: family()[2], some_node, lambda: family()[1]],
                                ids=["a trace", "no trace", "a parent"])


@pytest.mark.hole("10.4")
@NODES
def test_the_report_points_at_the_innermost_users_line(make):
    found = files_of_reports(make(), "users", "users.py")
    assert set(found) == {"users.py"}, f"expected the caller's line, got {found}"


@pytest.mark.hole("10.4")
@NODES
def test_the_report_does_not_point_into_the_package(make):
    found = files_of_reports(make(), "minigrad.inner", "inner.py")
    assert set(found) == {__file__}, f"expected this file, got {found}"


@pytest.mark.hole("10.4")
def test_each_report_has_the_name_of_its_own_node():
    node, parent = some_node(), (torch.ones(1, requires_grad=True) + 2).grad_fn
    for each in (node, parent):
        each.metadata[TRACEBACK] = ["  a line\n"]
    node.metadata[PARENT] = parent
    first, second = (str(each.message) for each in reports(node))
    assert "in MulBackward0." in first, f"got {first!r}"
    assert "by AddBackward0." in second, f"expected the parent's name, got {second!r}"


@pytest.mark.hole("10.4")
def test_a_parent_is_reported_after_the_node():
    found = [str(each.message) for each in reports(family()[1])]
    assert len(found) == 2, f"expected a warning for the node and one for its parent, got {found}"
    assert "line of parent" in found[0] and "line of grandparent" in found[1]


@pytest.mark.hole("10.4")
def test_the_words_for_a_parent():
    found = [str(each.message) for each in reports(family()[1])]
    expected = ("\n\nPrevious calculation was induced by MulBackward0. Traceback of forward call "
                "that induced the previous calculation:\n"
                "  outside of grandparent\n  line of grandparent\n")
    assert found[1:] == [expected], f"expected {expected!r}, got {found[1:]!r}"


@pytest.mark.hole("10.4")
def test_all_parents_are_reported():
    found = [str(each.message) for each in reports(family()[0])]
    assert len(found) == 3, f"expected a warning for the node and two for its parents, got {found}"
    for text, name in zip(found, ("own", "parent", "grandparent"), strict=True):
        assert f"line of {name}" in text, f"expected that of {name}, got {text!r}"


@pytest.mark.hole("10.4")
def test_a_node_without_a_trace():
    (found,) = reports(some_node())
    expected = ("Error detected in MulBackward0. No forward pass information available. Enable "
                "detect anomaly during forward pass for more information.")
    assert str(found.message) == expected, f"expected {expected!r}, got {found.message!r}"


@pytest.mark.hole("10.4")
def test_a_node_without_a_trace_ends_the_report():
    node, _, _ = family()
    del node.metadata[TRACEBACK]
    found = [str(each.message) for each in reports(node)]
    assert len(found) == 1 and "No forward pass" in found[0], f"expected one warning, got {found}"


@pytest.mark.hole("10.4")
def test_a_parent_without_a_trace():
    node, parent, _ = family()
    del parent.metadata[TRACEBACK]
    found = [str(each.message) for each in reports(node)]
    assert found[1].endswith("previous calculation:\n(made while anomaly mode was off)\n"), (
        f"got {found[1]!r}")
    del parent.metadata[PARENT]
    assert len(reports(node)) == 2, "expected a warning for a parent that is the last ancestor too"


@pytest.mark.hole("10.4")
def test_the_report_goes_on_after_a_parent_without_a_trace():
    node, parent, _ = family()
    del parent.metadata[TRACEBACK]
    found = [str(each.message) for each in reports(node)]
    assert len(found) == 3 and "line of grandparent" in found[2], f"got {found}"


class Faulty(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        raise ValueError("that went wrong")


@pytest.mark.hole("10.4")
def test_a_failing_backward_names_the_line_of_its_forward():
    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught, pytest.raises(ValueError, match="wrong"):
        warnings.simplefilter("always")
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            y = Faulty.apply(x)  # the line of the forward
            y.sum().backward()
    (report,) = [str(each.message) for each in caught]
    assert report.startswith("Error detected in FaultyBackward. Traceback of forward call")
    assert "the line of the forward" in report and "y.sum().backward()" not in report


# ------------------------------------------------------------------ 10.5

NAN = float("nan")


def found_in(*grads):
    try:
        anomaly_mode.check_nan(some_node(), grads)
    except NotImplementedError:  # which is a RuntimeError
        raise
    except RuntimeError as error:
        return str(error)
    return None


@pytest.mark.hole("10.5")
@pytest.mark.parametrize("grads", [
    (), (None,), (np.array([1.0, 2.0]), None), (np.array([np.inf, -np.inf]),), (np.array([1, 2]),),
    (torch.tensor([1.0]),), (np.zeros((0, 2)),),
], ids=["nothing", "missing", "numbers", "infinity", "integers", "tensor", "empty"])
def test_gradients_without_nan_pass(grads):
    found_in(np.array([NAN]))  # this one does not
    assert found_in(*grads) is None, f"expected {grads} to pass, got {found_in(*grads)}"


@pytest.mark.hole("10.5")
@pytest.mark.parametrize(("grads", "position"), [
    ((np.array([1.0, NAN]),), 0),
    ((np.array([1.0]), np.array([NAN])), 1),
    ((None, np.array([NAN, 1.0])), 1),
    ((torch.tensor([1.0]), None, torch.tensor([NAN, NAN])), 2),
    ((np.array([NAN]), np.array([NAN])), 0),
    ((np.array([1.0, NAN], dtype=np.float32),), 0),
    ((np.array([1.0, NAN], dtype=np.float16),), 0),
    ((np.array([1, 2]), np.array(NAN)), 1),
], ids=["one of two numbers", "the second", "behind a missing one", "a tensor's",
        "the first of two", "float32", "float16", "behind integers, a single number"])
def test_nan_is_named_with_its_node_and_position(grads, position):
    text = found_in(*grads)
    start = f"Function 'MulBackward0' returned nan values in its {position}th output.\n"
    assert text is not None, f"expected RuntimeError for {grads}"
    assert text.startswith(start), f"expected {start!r} ..., got {text!r}"


@pytest.mark.hole("10.5")
def test_the_error_says_where_the_nan_is():
    text = found_in(np.array([[1.0, NAN], [NAN, NAN]]))
    assert text is not None and text.endswith(
        "0th output.\nThis gradient has the shape [2, 2]; 3 of its 4 values are nan, the first at "
        "index [0, 1]."), f"got {text!r}"


@pytest.mark.hole("10.5")
def test_nan_on_another_device_is_found(monkeypatch):
    monkeypatch.setitem(backend.BACKENDS, strict.StrictArray, strict.backend)
    text = found_in(strict.StrictArray(np.array([1.0, NAN])))
    assert text is not None and text.endswith("1 of its 2 values are nan, the first at index [1].")


@pytest.mark.hole("10.5")
def test_the_first_nan_of_a_backward_pass_is_found():
    x = torch.tensor([4.0, 0.0], requires_grad=True)
    with (warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True)):
        warnings.simplefilter("ignore")  # the hint has tests of its own
        y = x.sqrt() * torch.tensor([1.0, 0.0])
        with pytest.raises(RuntimeError, match=(
                r"^Function 'SqrtBackward' returned nan values in its 0th output\.\nThis gradient "
                r"has the shape \[2\]; 1 of its 2 values are nan, the first at index \[1\]\.$")):
            y.sum().backward()


@pytest.mark.hole("10.5")
def test_nan_passes_where_nobody_looks_for_it():
    assert found_in(np.array([NAN])) is not None, "expected nan to be found where one looks"
    x = torch.tensor([4.0, 0.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        (x.sqrt() * torch.tensor([1.0, 0.0])).sum().backward()
    assert x.grad.isnan().tolist() == [False, True]
