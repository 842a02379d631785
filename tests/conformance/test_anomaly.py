"""Anomaly mode: what it says of an error in backward, and of NaN."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        # not what is tested
        warnings.filterwarnings("ignore", "Anomaly Detection has been enabled")
        # NaN is made on purpose
        warnings.filterwarnings("ignore", "invalid value|divide by zero", RuntimeWarning)
        yield


def failing(torch, message="mine"):
    class Fail(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError(message)

    return Fail


def nan_making(torch):
    class Blank(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g * float("nan")

    return Blank


def said(warned):
    return "".join(str(w.message) for w in warned)


def test_turning_it_on_warns_of_the_cost(torch):
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled. This mode will incr"):
        torch.autograd.detect_anomaly()


def test_it_is_on_inside_the_block_only(torch):
    assert not torch.is_anomaly_enabled()
    with torch.autograd.detect_anomaly():
        assert torch.is_anomaly_enabled()
        assert torch.is_anomaly_check_nan_enabled()
        with torch.autograd.detect_anomaly(check_nan=False):
            assert not torch.is_anomaly_check_nan_enabled()
        assert torch.is_anomaly_check_nan_enabled()
    assert not torch.is_anomaly_enabled()


def test_set_detect_anomaly_acts_at_once_and_as_a_block(torch):
    with torch.autograd.set_detect_anomaly(True):
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(True)
    try:
        assert torch.is_anomaly_enabled()
    finally:
        torch.autograd.set_detect_anomaly(False)


def test_the_forward_call_of_a_failing_node_is_shown(torch, leaf):
    with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        y = failing(torch).apply(leaf(1.0))  # this line is to be shown
        with pytest.raises(ValueError, match="mine"):
            y.backward()
    assert "Error detected in FailBackward" in said(warned)
    assert "this line is to be shown" in said(warned)


def test_without_anomaly_mode_in_the_forward_there_is_nothing_to_show(torch, leaf):
    y = failing(torch).apply(leaf(1.0))
    with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="mine"):
            y.backward()
    assert "No forward pass information available" in said(warned)


def test_nan_is_named_with_its_node_and_output(torch, leaf):
    with torch.autograd.detect_anomaly(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each engine words its hint in its own way
        y = nan_making(torch).apply(leaf(1.0), leaf(2.0))
        with pytest.raises(RuntimeError, match="Function 'BlankBackward' returned nan values in i"):
            y.backward()


def test_nan_may_be_let_through(torch, leaf):
    x, y = leaf(1.0), leaf(2.0)
    with torch.autograd.detect_anomaly(check_nan=False):
        nan_making(torch).apply(x, y).backward()
    assert y.grad.isnan().tolist()


def test_nan_of_an_op(torch, leaf):
    with torch.autograd.detect_anomaly(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the hint, as above
        y = (leaf(0.0) * 0).sqrt() * 0
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0?' returned nan values"):
            y.backward()


def test_infinity_is_no_anomaly(torch, leaf):
    x = leaf(0.0)
    with torch.autograd.detect_anomaly():
        x.sqrt().backward()
    assert x.grad.tolist() == float("inf")


def test_off_it_says_nothing(torch, leaf, recwarn):
    with pytest.raises(ValueError, match="mine"):
        failing(torch).apply(leaf(1.0)).backward()
    assert not recwarn


def test_the_parent_of_a_failing_second_derivative_is_shown(torch, leaf):
    inner = failing(torch)

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return inner.apply(g * ctx.saved_tensors[0])  # the inner line

    with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        x = leaf(1.0)
        y = Outer.apply(x)  # the outer line
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        with pytest.raises(ValueError, match="mine"):
            slope.backward()
    assert "the inner line" in said(warned)
    assert "the outer line" in said(warned)
    assert "Previous calculation was induced by OuterBackward" in said(warned)


def test_a_modified_tensor_gets_the_hint_for_the_mode(torch, leaf):
    def run():
        x = leaf(1.0) * 1
        y = x * x
        x += 1
        y.backward()

    with pytest.raises(RuntimeError, match="Hint: enable anomaly detection"):
        run()
    with torch.autograd.detect_anomaly(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the hint, as above
        with pytest.raises(RuntimeError, match="Hint: the backtrace further above shows"):
            run()


def test_it_works_in_threads_started_inside_a_pass(torch, leaf):
    with torch.autograd.detect_anomaly():
        x = leaf(1.0)
        (x * x).backward()
    assert x.grad.tolist() == 2.0
