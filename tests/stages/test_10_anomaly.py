"""Stage 10: whose frame it is, the switch, what a node remembers, the report, NaN."""

import sys
import warnings

import numpy as np
import pytest

import minigrad as torch
from minigrad import _state
from minigrad.autograd import Function, anomaly_mode, frames
from minigrad.autograd.anomaly_mode import PARENT, TRACEBACK


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
    ("minigrad", True), ("minigrad.tensor", True), ("minigrad.autograd.engine", True),
    ("minigrad.course.tour", False), ("minigrad.course", False),
    ("minigradient", False), ("minigrad_plus.tensor", False), ("torch", False),
    ("__main__", False), ("my.minigrad", False),
])
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
@pytest.mark.parametrize("modules", [
    ("minigrad.a",), ("minigrad.a", "minigrad.b"), ("minigrad.a",) * 5,
])
def test_the_users_frame_is_found_behind_the_packages(modules):
    frame, depth = through(*modules)
    assert frame.f_code.co_name == "through", f"expected the frame of `through`, got {frame}"
    expected = len(modules) + 1
    assert depth == expected, f"expected depth {expected} for {len(modules)} frames, got {depth}"


@pytest.mark.hole("10.1")
def test_the_innermost_of_the_users_frames_is_meant():
    frame, depth = through("minigrad.a", "users", "minigrad.b")
    assert (frame.f_globals["__name__"], depth) == ("users", 2)
    frame, depth = through("minigrad.a", "minigrad.course.tour", "minigrad.b", "minigrad.c")
    assert (frame.f_globals["__name__"], depth) == ("minigrad.course.tour", 3)


@pytest.mark.hole("10.1")
def test_a_caller_who_is_the_user_is_the_frame():
    frame, depth = frames.user_frame()
    assert frame is sys._getframe() and depth == 1, f"expected this frame and 1, got {frame, depth}"


@pytest.mark.hole("10.1")
def test_where_all_is_the_packages_the_caller_is_taken(monkeypatch):
    monkeypatch.setattr(frames, "is_ours", lambda names: True)
    monkeypatch.setattr(frames, "is_internal", lambda frame: True)
    frame, depth = frames.user_frame()
    assert frame is sys._getframe() and depth == 1, f"expected the caller and 1, got {frame, depth}"


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
        warnings.simplefilter("ignore")
        return torch.autograd.detect_anomaly(**options)


@pytest.mark.hole("10.2")
def test_the_switch():
    count = _state.observers.count
    for _ in range(2):  # twice is as good as once
        torch.set_anomaly_enabled(True)
        expect(True, True, "after switching on")
        assert _state.observers.count == count + 1
    torch.set_anomaly_enabled(True, False)
    expect(True, False, "without the search for NaN")
    for _ in range(2):
        torch.set_anomaly_enabled(False)
        expect(False, True, "after switching off")
        assert _state.observers.count == count


@pytest.mark.hole("10.2")
@pytest.mark.parametrize("check_nan", [True, False])
def test_detect_anomaly_is_a_block(check_nan):
    block = detect(check_nan=check_nan)
    expect(False, True, "before the block is entered")
    with block:
        expect(True, check_nan, "inside the block")
    expect(False, True, "after the block")
    with pytest.raises(KeyError), detect(check_nan=check_nan):
        raise KeyError
    expect(False, True, "after a block that raised")


@pytest.mark.hole("10.2")
def test_detect_anomaly_warns_where_it_is_made():
    with pytest.warns(UserWarning, match="^Anomaly Detection has been enabled") as caught:
        torch.autograd.detect_anomaly()
    assert caught[0].filename == __file__, f"expected this file, got {caught[0].filename}"


@pytest.mark.hole("10.2")
def test_set_detect_anomaly_takes_effect_at_once():
    torch.autograd.set_detect_anomaly(True)
    expect(True, True, "after set_detect_anomaly(True)")
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    expect(True, False, "after set_detect_anomaly(True, check_nan=False)")
    torch.autograd.set_detect_anomaly(False)
    expect(False, True, "after set_detect_anomaly(False)")


@pytest.mark.hole("10.2")
def test_blocks_put_back_what_was():
    with torch.autograd.set_detect_anomaly(True):
        expect(True, True, "in set_detect_anomaly(True)")
    expect(False, True, "after it")
    with detect(check_nan=False):
        with torch.autograd.set_detect_anomaly(False):
            expect(False, True, "in the inner block")
        expect(True, False, "after the inner block")
        with detect():
            expect(True, True, "in the second inner block")
        expect(True, False, "after the second inner block")
    expect(False, True, "after all blocks")


# ------------------------------------------------------------------ 10.3


def outer_function():
    return inner_function()


def inner_function():
    node = some_node()
    anomaly_mode.remember_origin(node)  # the line to be shown
    return node


@pytest.mark.hole("10.3")
def test_a_node_remembers_the_users_call_stack():
    trace = outer_function().metadata[TRACEBACK]
    assert isinstance(trace, list), f"expected a list of strings, got {type(trace)}"
    assert "the line to be shown" in trace[-1], f"expected the user's line last, got {trace[-1]}"
    assert "outer_function" in trace[-2], f"expected its caller before it, got {trace[-2]}"


@pytest.mark.hole("10.3")
def test_a_node_made_outside_backward_has_no_parent():
    assert PARENT not in outer_function().metadata


@pytest.mark.hole("10.3")
def test_a_node_made_while_another_is_evaluated_has_it_as_parent():
    evaluated, made, later = some_node(), some_node(), some_node()
    call = anomaly_mode.watched(lambda node, buffer: anomaly_mode.remember_origin(made))
    call(evaluated, None)
    anomaly_mode.remember_origin(later)
    assert made.metadata[PARENT] is evaluated
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


@pytest.mark.hole("10.3")
def test_watching_hands_on_what_it_gets():
    seen = []
    node = some_node()
    anomaly_mode.watched(lambda *given: seen.append(given))(node, "buffer")
    assert seen == [(node, "buffer")], f"expected one call with node and buffer, got {seen}"


@pytest.mark.hole("10.3")
def test_a_failure_is_told_and_goes_on(monkeypatch):
    told = []
    monkeypatch.setattr(anomaly_mode, "warn_of_origin", told.append)
    node, later = some_node(), some_node()

    def fail(node, buffer):
        raise KeyError("failed")

    with pytest.raises(KeyError, match="failed"):
        anomaly_mode.watched(fail)(node, None)
    assert told == [node], f"expected warn_of_origin to be called once with the node, got {told}"
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


@pytest.mark.hole("10.3")
def test_numpy_is_silent_while_a_node_runs():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        anomaly_mode.watched(lambda node, buffer: np.ones(1) / np.zeros(1))(some_node(), None)


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


@pytest.mark.hole("10.4")
def test_the_report_points_at_the_users_line():
    (found,) = reports(family()[2])
    assert found.filename == __file__, f"expected this file, got {found.filename}"


@pytest.mark.hole("10.4")
def test_the_report_points_at_the_innermost_users_line():
    users = {"__name__": "users", "warn_of_origin": anomaly_mode.warn_of_origin}
    exec(compile("def call(node):\n    warn_of_origin(node)", "users.py", "exec"), users)
    for node in (family()[2], some_node()):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            users["call"](node)
        assert [each.filename for each in caught] == ["users.py"], "expected the caller's line"
        inner = {"__name__": "minigrad.inner", "warn_of_origin": anomaly_mode.warn_of_origin}
        exec(compile("def call(node):\n    warn_of_origin(node)", "inner.py", "exec"), inner)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            inner["call"](node)
        assert [each.filename for each in caught] == [__file__], "a line of the package is told"


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
def test_parents_are_reported_too():
    found = [str(each.message) for each in reports(family()[0])]
    assert len(found) == 3, f"expected a warning for the node and two for its parents, got {found}"
    assert "line of own" in found[0]
    start = ("\n\nPrevious calculation was induced by MulBackward0. Traceback of forward call that "
             "induced the previous calculation:\n")
    for text, name in zip(found[1:], ("parent", "grandparent"), strict=True):
        expected = f"{start}  outside of {name}\n  line of {name}\n"
        assert text == expected, f"expected {expected!r}, got {text!r}"


@pytest.mark.hole("10.4")
def test_a_node_without_a_trace():
    (found,) = reports(some_node())
    expected = ("Error detected in MulBackward0. No forward pass information available. Enable "
                "detect anomaly during forward pass for more information.")
    assert str(found.message) == expected, f"expected {expected!r}, got {found.message!r}"


@pytest.mark.hole("10.4")
def test_a_parent_without_a_trace():
    node, parent, _ = family()
    del parent.metadata[TRACEBACK]
    found = [str(each.message) for each in reports(node)]
    assert len(found) == 3, f"expected three warnings, got {found}"
    assert found[1].endswith("(made while anomaly mode was off)\n"), f"got {found[1]!r}"


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
])
def test_nan_is_named_with_its_node_and_position(grads, position):
    text = found_in(*grads)
    start = f"Function 'MulBackward0' returned nan values in its {position}th output. "
    assert text is not None, f"expected RuntimeError for {grads}"
    assert text.startswith(start), f"expected {start!r} ..., got {text!r}"


@pytest.mark.hole("10.5")
@pytest.mark.parametrize(("mask", "expected"), [
    (True, "This gradient is a single number."),
    ([False, True, True],
     "This gradient has the shape [3]; 2 of its 3 values are nan, the first at index [1]."),
    ([[False, False, False], [False, True, False]],
     "This gradient has the shape [2, 3]; 1 of its 6 values are nan, the first at index [1, 1]."),
    ([True], "This gradient has the shape [1]; 1 of its 1 values are nan, the first at index [0]."),
    ([[True, False], [True, True]],
     "This gradient has the shape [2, 2]; 3 of its 4 values are nan, the first at index [0, 0]."),
])
def test_where_the_nan_is(mask, expected):
    got = anomaly_mode.describe(np.array(mask))
    assert got == expected, f"expected {expected!r}, got {got!r}"


@pytest.mark.hole("10.5")
def test_the_first_nan_of_a_backward_pass_is_found():
    x = torch.tensor([4.0, 0.0], requires_grad=True)
    with (warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True)):
        warnings.simplefilter("ignore")
        y = x.sqrt() * torch.tensor([1.0, 0.0])
        with pytest.raises(RuntimeError, match=(
                r"^Function 'SqrtBackward' returned nan values in its 0th output\. This gradient "
                r"has the shape \[2\]; 1 of its 2 values are nan, the first at index \[1\]\.$")):
            y.sum().backward()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        (x.sqrt() * torch.tensor([1.0, 0.0])).sum().backward()
    assert x.grad.isnan().tolist() == [False, True]
