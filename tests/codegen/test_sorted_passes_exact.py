"""Sorted passes do what the engine does, to the last bit, or are not taken."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad import _state
from minigrad.autograd import grad
from minigrad.engine.engine import execute
from minigrad.codegen.sorted_pass import SortedPass, jacobian_rows
from minigrad.tensor.tensor import Tensor, from_array
from tests.support.samples import OPS, Sample, each, samples, sloped

DIFFERENTIABLE = [op for op in OPS if op.formulas]


def by_the_engine(output: Any, inputs: Any, gradient: Any, create_graph: bool = False) -> Any:
    """Return the gradients of one pass of the engine."""
    given = gradient if create_graph else gradient._array
    return execute([output._edge()], [given], True, create_graph, [x._edge() for x in inputs],
                   accumulate=False)


def sorted_pass(output: Any, inputs: Any, create_graph: bool = False) -> SortedPass | None:
    return SortedPass.of([output._edge()], [x._edge() for x in inputs], create_graph)


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=[op.__name__ for op in DIFFERENTIABLE])
@pytest.mark.parametrize("create_graph", [False, True], ids=["arrays", "tensors"])
def test_every_op_runs_exactly(op: Any, create_graph: bool) -> None:
    def check(sample: Sample) -> None:
        outputs, leaves = sloped(op, sample.run()), sample.leaves()
        if not leaves:
            return
        rng = np.random.default_rng(5)
        for output in outputs:
            passes = sorted_pass(output, leaves, create_graph)
            assert passes is not None
            for _ in range(2):
                g = from_array(np.asarray(rng.normal(size=output.shape), output._array.dtype))
                wanted = by_the_engine(output, leaves, g, create_graph)
                got = passes.run([g if create_graph else g._array])
                for a, b in zip(got, wanted, strict=True):
                    assert (a is None) == (b is None)
                    if a is not None:
                        a, b = (t._array if isinstance(t, Tensor) else t for t in (a, b))
                        assert a.dtype == b.dtype and a.shape == b.shape
                        assert np.array_equal(a, b, equal_nan=True)

    each(samples(op), check)


def branching(x: Any) -> Any:
    a = x.sin()
    parts = (a * x).split(1)
    return torch.cat([parts[0] * parts[1], a, a.cumsum(0) * x.sum()]) + torch.stack([x, x]).sum()


def test_a_graph_with_branches():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = branching(x)
    (rows,) = jacobian_rows(y, [x])
    for i, row in enumerate(rows):
        (wanted,) = grad(y[i], x, retain_graph=True)
        assert row.tolist() == wanted.tolist()


def test_gradients_by_what_is_in_between():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    middle = x * x
    y = middle.exp() * x
    got = sorted_pass(y, [middle, x]).run([np.ones(2, np.float32)])
    wanted = grad(y, [middle, x], torch.ones(2))
    assert [g.tolist() for g in got] == [g.tolist() for g in wanted]


def test_an_input_that_is_the_output_and_one_that_is_not_used():
    x = torch.ones(2, requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    got = sorted_pass(x, [x, other]).run([np.full(2, 3.0, np.float32)])
    assert got[0].tolist() == [3.0, 3.0] and got[1] is None


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def with_hook(x: Any) -> Any:
    y = x * x
    y.register_hook(lambda g: g * 2)
    return y.exp()


@pytest.mark.parametrize("function", [Double.apply, with_hook], ids=["Function", "hook"])
def test_what_may_look_at_each_pass_is_left_to_the_engine(function):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = function(x)
    assert sorted_pass(y, [x]) is None
    rows = torch.autograd.functional.jacobian(function, x.detach())
    (wanted,) = grad(y.sum(), x)
    assert rows.sum(0).tolist() == wanted.tolist()


def test_a_hook_behind_the_goals_does_not_matter():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    hooked = x * x
    hooked.register_hook(lambda g: g * 2)
    middle = hooked.exp()
    assert sorted_pass(middle * 3, [middle]) is not None


@pytest.mark.filterwarnings("ignore:Anomaly Detection")  # said on purpose where it is switched on
def test_observers_and_anomaly_mode_are_left_to_the_engine():
    x = torch.tensor([1.0], requires_grad=True)
    y = x.exp()
    with torch.autograd.detect_anomaly(check_nan=False):
        assert sorted_pass(y, [x]) is None
    _state.observers.enter()
    try:
        assert sorted_pass(y, [x]) is None
    finally:
        _state.observers.leave()
    assert sorted_pass(y, [x]) is not None


def test_a_graph_of_several_threads_is_left_to_the_engine():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(5):
        y = y * 1.5
    results: list[Any] = []

    def work() -> None:  # its sequence numbers start at 0
        results.append(y.sin())

    thread = Thread(target=work)
    thread.start()
    thread.join()
    (z,) = results
    assert sorted_pass(z, [x]) is None
    (got,) = grad(z, x, torch.ones(2), create_graph=True)
    np.testing.assert_allclose(got.detach().numpy(), np.cos(y.detach().numpy()) * 1.5**5, 1e-5)


def test_what_was_freed_is_not_used():
    x = torch.tensor([1.0], requires_grad=True)
    y = x.exp()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        grad(y, x, create_graph=True)
