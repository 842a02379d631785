"""A planned pass gives what `GraphTask` gives, to the last bit, in the same order."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad import _state
from minigrad.autograd import grad
from minigrad.engine.engine import execute
from minigrad.engine.graph_task import GraphTask
from minigrad.graph.node import GraphRoot
from minigrad.tensor.tensor import Tensor, from_array
from tests.support.samples import OPS, Sample, each, samples, with_formula

if not _state.codegen:
    pytest.skip("codegen/ is switched off", allow_module_level=True)

from minigrad.codegen import replay
from minigrad.codegen.planned_task import PlannedTask
from tests.support.slow import slow_but_one_in

DIFFERENTIABLE = [op for op in OPS if op.formulas]


def passed(task_class: type[GraphTask], output: Any, inputs: Any, gradient: Any,
           create_graph: bool = False) -> Any:
    """Return the gradients of one pass of a class."""
    given = gradient if create_graph else gradient._array
    return execute([output._edge()], [given], True, create_graph, [x._edge() for x in inputs],
                   accumulate=False, task_class=task_class)


def assert_same(got: Any, wanted: Any) -> None:
    for a, b in zip(got, wanted, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            a, b = (t._array if isinstance(t, Tensor) else t for t in (a, b))
            assert a.dtype == b.dtype and a.shape == b.shape
            assert np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("op", slow_but_one_in(3, DIFFERENTIABLE),
                         ids=[op.__name__ for op in DIFFERENTIABLE])
def test_every_op_runs_exactly(op: Any) -> None:
    def check(sample: Sample) -> None:
        outputs, leaves = with_formula(op, sample.run()), sample.leaves()
        if not leaves:
            return
        rng = np.random.default_rng(5)
        for output in outputs:
            g = from_array(np.asarray(rng.normal(size=output.shape), output._array.dtype))
            planned = replay.plan(output, leaves)
            assert planned is not None
            for create_graph in (False, True):
                wanted = passed(GraphTask, output, leaves, g, create_graph)
                assert_same(passed(PlannedTask, output, leaves, g, create_graph), wanted)
            for _ in range(2):
                row = replay.run(*planned, g._array)
                assert_same(map(row.get, range(len(leaves))),
                            passed(GraphTask, output, leaves, g))

    each(samples(op), check)


def branching(x: Any) -> Any:
    a = x.exp()
    parts = (a * x).split(1)
    return torch.cat([parts[0] * parts[1], a, a.cumsum(0) * x.sum()]) + torch.stack([x, x]).sum()


@pytest.mark.parametrize("task_class", [GraphTask, PlannedTask])
def test_a_pass_accumulates_into_leaves_in_the_order_of_graph_task(task_class):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    seen: list[str] = []
    h = x * w
    y = (h.exp() + h * 2 + w.sin()).sum()
    for name, tensor in (("h", h), ("x", x), ("w", w)):
        tensor.register_hook(lambda g, name=name: seen.append(name))
    w.register_post_accumulate_grad_hook(lambda t: seen.append("w is done"))
    y.grad_fn.register_prehook(lambda g: seen.append("y"))
    execute([y._edge()], [np.ones(())], False, False, task_class=task_class)
    assert seen == ["y", "h", "x", "w", "w is done"]
    assert x.grad.tolist() == ((h.exp() + 2) * w).tolist()
    assert w.grad.tolist() == ((h.exp() + 2) * x + w.cos()).tolist()


def test_a_leaf_runs_as_soon_as_its_last_gradient_has_come():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    first = x * 3
    second = first * w
    found: list[Any] = []
    first.register_hook(lambda g: found.append(w.grad))
    (second * w).sum().backward()
    assert found[0].tolist() == [6.0, 6.0]


def test_one_result_for_two_edges_is_written_to_for_neither():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    a, b = x * 1, y * 1
    ((a + b) * 2 + a * 5).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0] and y.grad.tolist() == [2.0, 2.0]


def test_rows_of_a_graph_with_branches():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    rows = torch.autograd.functional.jacobian(branching, x.detach())
    y = branching(x)
    for i, row in enumerate(rows):
        (wanted,) = grad(y[i], x, retain_graph=True)
        assert row.tolist() == wanted.tolist()


def test_gradients_by_what_is_in_between():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    middle = x * x
    y = middle.exp() * x
    one = torch.ones(2)
    assert_same(passed(PlannedTask, y, [middle, x], one), passed(GraphTask, y, [middle, x], one))


def test_an_input_that_is_the_output_and_one_that_is_not_used():
    x, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    got = passed(PlannedTask, x, [x, other], torch.full((2,), 3.0))
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
def test_what_may_look_at_each_pass_is_not_replayed(function):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = function(x)
    assert replay.plan(y, [x]) is None
    rows = torch.autograd.functional.jacobian(function, x.detach())
    (wanted,) = grad(y.sum(), x)
    assert rows.sum(0).tolist() == wanted.tolist()


def test_a_hook_behind_the_inputs_does_not_matter_to_a_replay():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    hooked = x * x
    hooked.register_hook(lambda g: g * 2)
    middle = hooked.exp()
    assert replay.plan(middle * 3, [middle]) is not None


def test_a_graph_of_several_threads_has_no_plan():
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
    task = PlannedTask(True, False)
    task.plan(GraphRoot([z._edge()], [None]))
    assert task.order is None
    (got,) = grad(z, x, torch.ones(2), create_graph=True)
    np.testing.assert_allclose(got.detach().numpy(), np.cos(y.detach().numpy()) * 1.5**5, 1e-5)


def test_an_older_node_that_leads_to_a_newer_one_is_found_wherever_it_is():
    """The edge out of order may lead to a node that was reached in order before."""
    x = torch.ones(2, requires_grad=True)
    old = x * 2
    new = x.exp()
    top = new * old
    old.grad_fn.set_edges([(new.grad_fn, 0), (None, 0)])  # as a write to a view may leave it
    task = PlannedTask(True, False)
    task.plan(GraphRoot([top._edge()], [None]))
    assert task.order is None
    assert_same(passed(PlannedTask, top, [x], torch.ones(2)),
                passed(GraphTask, top, [x], torch.ones(2)))


def test_what_was_freed_is_not_used():
    x = torch.tensor([1.0], requires_grad=True)
    y = x.exp()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        grad(y, x, create_graph=True)
