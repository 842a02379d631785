"""`execute`: what a pass is told, and what it returns."""

import numpy as np
import pytest

import minigrad as torch
from minigrad import _state
from minigrad.autograd import anomaly_mode  # noqa: F401  # it fills `_state.anomaly`
from minigrad.engine import engine, graph_task
from minigrad.engine.graph_task import GraphTask
from minigrad.graph.node import GraphRoot

F32 = np.float32


def leaf(values):
    return torch.tensor(values, requires_grad=True)


def test_no_inputs_are_no_input():
    x = leaf([2.0])
    found = engine.execute([(x * x)._edge()], [np.ones(1, F32)], False, False, [])
    assert found == [] and x.grad is None, f"an empty list of inputs filled .grad: {x.grad}"


def asked(*inputs):
    """What `execute` gives for some inputs of a * b, at a = 2 and b = 3."""
    a, b = leaf([2.0]), leaf([3.0])
    edges = {"a": a._edge(), "b": b._edge(), "unused": leaf([4.0])._edge(), "nowhere": (None, 0)}
    found = engine.execute([(a * b)._edge()], [np.ones(1, F32)], False, False,
                           [edges[name] for name in inputs], False)
    assert isinstance(found, list), f"expected a list, got a {type(found).__name__}"
    assert len(found) == len(inputs), f"{len(inputs)} inputs, but {len(found)} results"
    return [None if g is None else g.tolist() for g in found]


def test_results_come_in_the_order_of_the_inputs():
    assert asked("b", "a") == [[2.0], [3.0]]
    assert asked("a", "b") == [[3.0], [2.0]]


def test_one_input_at_several_positions():
    got = asked("a", "b", "a")
    assert got == [[3.0], [2.0], [3.0]], f"got {got}"


def test_an_input_that_is_not_used_has_none():
    got = asked("unused", "b")
    assert got == [None, [2.0]], f"got {got}"


def test_an_input_that_leads_nowhere_has_none():
    got = asked("nowhere", "a", "nowhere")
    assert got == [None, [3.0], None], f"got {got}"


def test_the_ends_of_a_pass_are_nodes():
    seen = []

    class Told(GraphTask):
        def find_nodes_to_execute(self, root, inputs):
            seen.append(set(inputs))
            super().find_nodes_to_execute(root, inputs)

    a, b = leaf([2.0]), leaf([3.0])
    places = [(None, 0), a._edge(), a._edge()]
    engine.execute([(a * b)._edge()], [np.ones(1, F32)], False, False, places, False, Told)
    assert seen == [{a._accumulator()}], f"expected the node of a alone, got {seen}"


@pytest.mark.parametrize(("keep", "create"), [
    pytest.param(True, False, id="retain_graph"), pytest.param(False, True, id="create_graph")])
def test_retain_graph_and_create_graph_reach_the_pass(keep, create):
    made = []

    class Made(GraphTask):
        def __init__(self, *wishes, **more):
            made.append(wishes[:2])
            super().__init__(*wishes, **more)

    x = leaf([2.0])
    one = torch.Tensor._plain(np.ones(1, F32)) if create else np.ones(1, F32)
    engine.execute([(x * x)._edge()], [one], keep, create, task_class=Made)
    wanted = [(keep, create)]
    assert made == wanted, f"expected retain_graph, create_graph {wanted}, got {made}"


@pytest.mark.parametrize(("named", "accumulate"), [
    pytest.param(False, True, id="without inputs"),
    pytest.param(True, True, id="with inputs that accumulate"),
    pytest.param(True, False, id="with inputs whose gradients are returned")])
def test_a_pass_to_inputs_ends_there(named, accumulate):
    told = []

    class Told(GraphTask):
        def end_at(self, root, inputs, accumulate):
            told.append((list(root.edges), inputs, accumulate))
            super().end_at(root, inputs, accumulate)

    x = leaf([2.0])
    edges, inputs = [(x * x)._edge()], [x._edge()] if named else None
    engine.execute(edges, [np.ones(1, F32)], False, False, inputs, accumulate, Told)
    assert told == ([(edges, inputs, accumulate)] if named else []), f"got {told}"


@pytest.mark.parametrize("grads, expected", [
    pytest.param([np.ones(1, F32)], False, id="an array"),
    pytest.param([torch.ones(1)], True, id="a Tensor"), pytest.param([], False, id="nothing")])
def test_a_pass_that_begins_with_tensors_works_on_tensors(grads, expected):
    made, x = [], leaf([2.0])

    class Made(GraphTask):
        def __init__(self, *wishes, **more):
            super().__init__(*wishes, **more)
            made.append(self)

    engine.execute([(x * x)._edge()][: len(grads)], grads, False, False, task_class=Made)
    got = made[0].on_tensors
    assert got is expected, f"expected on_tensors {expected}, got {got!r}"


@pytest.mark.parametrize("below", [0, 1], ids=["MAX_DEPTH", "one less"])
def test_a_deep_pass_runs_in_a_fresh_thread(monkeypatch, below):
    fresh, here, x = [], [], leaf([2.0])
    monkeypatch.setattr(engine, "in_fresh_thread", lambda run: lambda task, root: fresh.append(1))
    monkeypatch.setattr(engine._running, "tasks", [None] * (engine.MAX_DEPTH - below))
    x.register_hook(lambda g: here.append(1))
    engine.execute([(x * x)._edge()], [np.ones(1, F32)], True, False)
    assert (len(fresh), len(here)) == ((0, 1) if below else (1, 0)), \
        f"passes in a fresh thread and here: {len(fresh)} and {len(here)}"


@pytest.mark.parametrize("accumulate", [True, False], ids=["accumulated", "returned"])
@pytest.mark.parametrize("roots", [1, 2], ids=["one root", "two roots"])
def test_extra_nodes_are_noted_after_the_nodes_to_execute(monkeypatch, accumulate, roots):
    told = []
    monkeypatch.setattr(graph_task, "note_extra_nodes", lambda task, root, ends, accumulate:
                        told.append((task.nodes_to_execute is not None, root, ends, accumulate)))
    x, y = leaf([2.0]), leaf([3.0])
    root = GraphRoot([(x * y)._edge() for _ in range(roots)], [np.ones(1, F32)] * roots)
    task = GraphTask(False, False)
    task.end_at(root, [x._edge(), (None, 0)], accumulate)
    assert told == [(True, root, {x._accumulator()}, accumulate)]
    assert task.captures == ({} if accumulate else {x._accumulator(): {0: [0]}})


def test_a_made_input_runs_although_its_results_are_not_used():
    x = leaf([2.0])
    y = x * x
    y.retain_grad()
    (y * 3.0).backward(inputs=[y])
    assert y.grad.tolist() == [3.0] and x.grad is None
    with pytest.raises(RuntimeError, match="second time"):  # what its node saved was freed
        y.backward()


def test_hooks_of_a_single_root_run_where_no_input_lies_behind_it():
    x, other, seen = leaf([2.0]), leaf([5.0]), []
    y = x * 2.0
    y.register_hook(lambda g: seen.append(g.tolist()))
    assert torch.autograd.grad(y, other, allow_unused=True) == (None,)
    assert seen == [[1.0]]


def test_anomaly_mode_watches_each_node_and_leaves_the_task_as_it_was(monkeypatch):
    watched, tasks, x = [], [], leaf([1.0])

    class Kept(GraphTask):
        def run(self, root):
            tasks.append(self)
            assert "evaluate" in vars(self)
            super().run(root)

    y = x * 2.0
    monkeypatch.setattr(_state.anomaly, "watched", lambda evaluate: lambda node, buffer: (
        watched.append(node), evaluate(node, buffer)))
    with torch.autograd.set_detect_anomaly(True):
        engine.execute([y._edge()], [np.ones(1, F32)], False, False, task_class=Kept)
    assert y.grad_fn in watched and x.grad.tolist() == [2.0]
    assert "evaluate" not in vars(tasks[0]), "a task that holds itself waits for the collector"
