"""Anomaly mode: where the forward call was, and which node made the first NaN."""

from __future__ import annotations

import gc
import importlib
import re
import threading
import warnings
import weakref

import numpy as np
import pytest

import minigrad
from minigrad.autograd.anomaly_mode import describe
from tests.support.engines import leaf, on_each_engine, spelt

pytestmark = on_each_engine


@pytest.fixture(autouse=True)
def switched_off(torch):
    """Leave the mode off, whatever a test did, and see that a test leaves no observer behind."""
    before = minigrad._state.observers.count
    yield
    torch.autograd.set_detect_anomaly(False)
    assert minigrad._state.observers.count == before
    assert not minigrad._state.observers.on_node


def faulty(torch):
    """Make a Function whose backward fails."""

    class Faulty(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("that went wrong")

    return Faulty


def not_a_number(torch, position):
    """Make a Function of two inputs that returns NaN as the gradient of one of them."""

    class Spoilt(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            grads = [g.clone(), g.clone()]
            grads[position][..., 1] = float("nan")
            return tuple(grads)

    return Spoilt


def detect(torch, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the mode is slow
        return torch.autograd.detect_anomaly(*args, **kwargs)


def reports(run, error):
    """Run what has to fail and return the error's text and the warnings."""
    with warnings.catch_warnings(record=True) as caught, pytest.raises(error) as failure:
        warnings.simplefilter("always")
        run()
    return str(failure.value), [str(w.message) for w in caught]


# --- The switch ----------------------------------------------------------------------------------


def test_the_context_managers_restore_what_was(torch):
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    with detect(torch, check_nan=False):
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        with torch.autograd.set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()


def test_an_error_in_the_block_restores_it_too(torch):
    with pytest.raises(KeyError), detect(torch):
        raise KeyError
    assert not torch.is_anomaly_enabled()


def test_set_detect_anomaly_as_a_function(torch):
    torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    torch.autograd.set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()


def test_detect_anomaly_warns_that_it_is_slow(torch):
    message = r"^Anomaly Detection has been enabled\. This mode will increase the runtime and"
    with pytest.warns(UserWarning, match=message) as caught:
        torch.autograd.detect_anomaly()
    assert caught[0].filename == __file__
    assert not torch.is_anomaly_enabled()  # only the block is in the mode


def test_the_mode_is_of_all_threads(torch):
    seen = []
    with detect(torch):
        thread = threading.Thread(target=lambda: seen.append(torch.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


# --- Where the forward call was ------------------------------------------------------------------


def test_the_forward_call_is_shown(torch):
    x = leaf(torch, [1.0, 2.0])

    def run():
        with detect(torch):
            y = faulty(torch).apply(x)  # the line to be shown
            y.sum().backward()

    error, shown = reports(run, ValueError)
    assert error == "that went wrong"
    (report,) = shown
    assert report.startswith("Error detected in FaultyBackward. Traceback of forward call that "
                             "caused the error:\n")
    lines = report.splitlines()
    at = next(i for i, line in enumerate(lines) if "the line to be shown" in line)
    assert re.fullmatch(rf'  File "{__file__}", line \d+, in run', lines[at - 1])
    assert "y.sum().backward()" not in report


def test_a_forward_outside_the_mode_has_no_trace(torch):
    y = faulty(torch).apply(leaf(torch, [1.0])).sum()

    def run():
        with detect(torch):
            y.backward()

    _, (report,) = reports(run, ValueError)
    assert report.startswith("Error detected in FaultyBackward. No forward pass information "
                             "available. Enable detect anomaly during forward pass for more "
                             "information.")


def test_without_the_mode_there_is_no_report(torch):
    y = faulty(torch).apply(leaf(torch, [1.0])).sum()
    assert reports(y.backward, ValueError)[1] == []


def test_a_hook_that_fails_belongs_to_its_node(torch):
    def fail(grad):
        raise ValueError("in a hook")

    def run():
        with detect(torch):
            y = leaf(torch, [1.0]) * 2
            y.register_hook(fail)
            y.sum().backward()

    error, (report,) = reports(run, ValueError)
    assert error == "in a hook"
    assert report.startswith("Error detected in MulBackward0. Traceback of forward call")


def test_the_trace_is_kept_in_the_metadata(torch):
    x = leaf(torch, [1.0])
    assert not (x * 2).grad_fn.metadata
    with detect(torch):
        y = x * 2  # here
        base = leaf(torch, [1.0, 2.0]) * 1
        base[:1].mul_(2)  # and here
    assert list(y.grad_fn.metadata) == ["traceback_"]
    assert "y = x * 2  # here" in y.grad_fn.metadata["traceback_"][-1]
    assert "CopySlices" in base.grad_fn.name()
    assert "# and here" in base.grad_fn.metadata["traceback_"][-1]


def test_a_written_value_names_the_line_that_saved_it(torch):
    def run():
        with torch.autograd.set_detect_anomaly(True):
            x = leaf(torch, [1.0, 2.0])
            y = x.exp()  # saves its result
            y += 1
            y.sum().backward()

    error, (report,) = reports(run, RuntimeError)
    assert "has been modified by an inplace operation" in error
    assert "the backtrace further above shows the operation" in error
    assert "# saves its result" in report


# --- Double backward -----------------------------------------------------------------------------


def nested(torch, position):
    """Make a Function whose backward calls another one, whose backward returns NaN."""
    spoilt = not_a_number(torch, position)

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return spoilt.apply(g * x, g + x)  # the second line

    return Outer


@pytest.mark.parametrize("position", [0, 1])
def test_parents_are_shown_too(torch, position):
    def run():
        with detect(torch):
            x = leaf(torch, [1.0, 2.0, 3.0])
            y = nested(torch, position).apply(x)  # the first line
            (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
            slope.sum().backward()

    error, shown = reports(run, RuntimeError)
    assert error.startswith(f"Function 'SpoiltBackward' returned nan values in its {position}th "
                            "output.")
    first, second = [text for text in shown if "Traceback" in text]
    assert first.startswith("Error detected in SpoiltBackward. ") and "# the second line" in first
    assert second.startswith("\n\nPrevious calculation was induced by OuterBackward. Traceback of "
                             "forward call that induced the previous calculation:\n")
    assert "# the first line" in second


def test_parents_are_freed_with_the_graph(torch):
    class Holder:
        pass

    gc.collect()
    gc.disable()
    try:
        with detect(torch):
            x = leaf(torch, [1.0])
            y = x**3
            held = Holder()
            y.grad_fn.metadata["held"] = held
            parent = weakref.ref(held)
            del held
            (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
            (second,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
            assert second.grad_fn.metadata["parent_"] is not None
            del y, slope
            assert parent() is not None  # the child keeps it
            del second
            assert parent() is None
    finally:
        gc.enable()


# --- NaN -----------------------------------------------------------------------------------------


def test_nan_is_named_with_its_node_and_output(torch):
    x, y = leaf(torch, [[1.0, 2.0]] * 3), leaf(torch, [[3.0, 4.0]] * 3)
    function = not_a_number(torch, 1)
    function.apply(x, y).sum().backward()  # without the mode nobody minds

    def run():
        with detect(torch):
            function.apply(x, y).sum().backward()

    error, (report,) = reports(run, RuntimeError)
    assert error.startswith("Function 'SpoiltBackward' returned nan values in its 1th output.")
    assert "function.apply(x, y)" in report
    if torch is minigrad:
        assert error.endswith("output.\nThis gradient has the shape [3, 2]; 3 of its 6 values are "
                              "nan, the first at index [0, 1].")


def test_nan_of_an_op(torch):
    def run():
        with detect(torch):
            (leaf(torch, 0.0).sqrt() * 0).backward()

    error, _ = reports(run, RuntimeError)
    name = spelt(torch, "SqrtBackward")
    assert error.startswith(f"Function '{name}' returned nan values in its 0th output.")


@pytest.mark.parametrize("create_graph", [False, True])
def test_nan_is_found_whatever_the_engine_records(torch, create_graph):
    def run():
        with detect(torch):
            x = leaf(torch, 0.0)
            torch.autograd.grad(x.sqrt() * 0, x, create_graph=create_graph)

    assert "returned nan values in its 0th output" in reports(run, RuntimeError)[0]


def test_check_nan_can_be_left_out(torch):
    x = leaf(torch, 0.0)
    with detect(torch, check_nan=False):
        (x.sqrt() * 0).backward()
    assert x.grad.isnan()


def test_infinity_passes(torch):
    x = leaf(torch, 0.0)
    with detect(torch):
        x.sqrt().backward()
    assert x.grad.isinf()


def test_the_gradients_are_the_same_in_the_mode(torch):
    x = leaf(torch, [1.0, 2.0])

    def loss():
        return (x.exp() * x + x[:1]).sum()

    loss().backward()
    plain, x.grad = x.grad, None
    with detect(torch):
        loss().backward()
    assert x.grad.tolist() == plain.tolist()


@pytest.mark.filterwarnings("ignore:Error detected in Sqrt")  # the report that goes with it
def test_nan_is_looked_for_in_batches(torch):
    func = importlib.import_module(torch.__name__ + ".func")
    x = torch.tensor([1.0, 4.0])
    with torch.autograd.set_detect_anomaly(True):
        assert func.jacrev(torch.sqrt)(x).tolist() == [[0.5, 0.0], [0.0, 0.25]]
        with pytest.raises(RuntimeError, match="returned nan values in its 0th output"):
            func.jacrev(torch.sqrt)(torch.tensor([1.0, -1.0]))


@pytest.mark.parametrize(("mask", "told"), [
    (True, "is a single number."),
    ([True], "has the shape [1]; 1 of its 1 values are nan, the first at index [0]."),
    ([False, True, True], "has the shape [3]; 2 of its 3 values are nan, the first at index [1]."),
    ([[False, False, False], [False, True, False]],
     "has the shape [2, 3]; 1 of its 6 values are nan, the first at index [1, 1]."),
])
def test_where_nan_stands_is_described(torch, mask, told):
    assert describe(np.array(mask)) == f"This gradient {told}"
