"""Pictures of lesson 03."""

from __future__ import annotations

import numpy as np

import minigrad as torch
from minigrad.engine.graph_task import GraphTask
from minigrad.examples.naive_engine import NaiveEngine
from minigrad.graph.node import GraphRoot
from minigrad.tensor.tensor import Tensor
from minigrad_course.pictures import Chip, Curve, Picture, backward_graph, plot, table


def paths() -> Picture:
    """Calls of the naive engine on Fibonacci's graph, and the nodes that there are."""
    counts, calls = [*range(2, 13)], []
    for count in counts:
        p = q = torch.tensor(1.0, requires_grad=True)
        for _ in range(count):
            p, q = q, p + q
        engine = NaiveEngine()
        engine.backward(q)
        calls.append(engine.calls)
    return Picture(
        plot([Curve([*zip(counts, calls, strict=True)], "each path once", dots=True,
                    kind="gradient-solid", shift=(-14, 6)),
              Curve([*zip(counts, counts, strict=True)], "each node once", dots=True,
                    shift=(0, -13))],
             "additions", "calls", x_ticks=[2, 7, 12], y_ticks=[0, 100, 200, 300]),
        "Calls of the naive engine on Fibonacci's graph",
        "Two curves over the number of additions. One call for each node stays at the bottom; one "
        f"call for each path rises ever more steeply, to {calls[-1]} calls for 12 additions.",
        "Each addition makes the number of paths 1.6 times as large.")


def _fork() -> tuple[Tensor, Tensor, Tensor]:
    a, b = (torch.tensor(value, requires_grad=True) for value in (4.0, 3.0))
    d = b**2
    return a, b, d + a**2 * d


def dependencies() -> Picture:
    """How many gradients each node of the graph waits for."""
    a, b, f = _fork()
    task = GraphTask(False, False)
    assert f.grad_fn is not None
    task.count_dependencies(f.grad_fn)
    notes = {node: (f"waits for {count}",) for node, count in task.dependencies.items()}
    kinds = {node: "on-gradient" for node, count in task.dependencies.items() if count > 1}
    return Picture(
        backward_graph(f, {"a": a, "b": b}, notes=notes, kinds=kinds),
        "The edges into each node, counted",
        "The graph of f from the addition down to the leaves a and b. Two arrows lead into the "
        "square of b, so it waits for 2 gradients. Every other node has one and waits for 1.",
        "Count the arrows that lead into a node: that's how many gradients it waits for.")


class _Told(GraphTask):
    """A pass that notes, for each node, what waited and what was ready."""

    def note(self, names: dict[object, str]) -> None:
        self.names, self.rows = names, []

    def evaluate(self, node, buffer):  # type: ignore[no-untyped-def]
        ready = [each for _, _, each in sorted(self.ready)]
        super().evaluate(node, buffer)
        pushed = [each for _, _, each in sorted(self.ready) if each not in ready]
        left = [f"{self.names[each]}: {count}" for each, count in self.dependencies.items()
                if count and each in self.names]
        self.rows.append((self.names[node], [self.names[each] for each in (*pushed, *ready)],
                          left))


def steps() -> Picture:
    """A backward pass through the graph of section 1, step by step."""
    a, b, f = _fork()
    add = f.grad_fn
    assert add is not None
    (square_b, _), (mul, _) = add.next_functions
    square_a = mul.next_functions[0][0]
    root = GraphRoot([f._edge()], [np.ones((), np.float32)])
    task = _Told(False, False)
    task.note({root: "root", add: "+", mul: "×", square_a: "a²", square_b: "b²",
               a._edge()[0]: "a", b._edge()[0]: "b"})
    task.count_dependencies(root)
    task.run(root)
    rows = [[[Chip(node, "on-gradient")], [Chip(each) for each in ready] or "nothing",
             ", ".join(left) or "nothing"] for node, ready, left in task.rows]
    return Picture(
        table(["runs", "then ready", "and still waiting for"], rows),
        "A backward pass, step by step",
        "A table of the pass through f = d + a² × d. The nodes run in the order "
        + ", ".join(node for node, _, _ in task.rows) + ". After the addition has run, the square "
        "of b has received one of its two gradients and still waits for 1. It's ready only after "
        "the product has run.",
        "After the first gradient, from `+`, `b²` isn't ready yet, because it waits for the second "
        "one, from `×`.")


def needed() -> Picture:
    """Which nodes run for grad(total, (r, p))."""
    p, q = (torch.tensor([value], requires_grad=True) for value in (2.0, 0.5))
    r = p * q
    aside = (q * 100.0).exp()
    total = r.exp() + 0 * aside
    task, root = GraphTask(False, False), GraphRoot([total._edge()], [None])
    ends = {r._edge()[0], p._edge()[0]}
    task.find_nodes_to_execute(root, ends)  # type: ignore[arg-type]
    found = task.nodes_to_execute or set()
    notes = {node: ("asked for",) for node in ends}
    return Picture(
        backward_graph(total, {"p": p, "q": q}, notes=notes,
                       kinds={node: "on-gradient" for node in found}),
        "The nodes that run for grad(total, (r, p))",
        "The graph of total. The addition, the exponential of r, the product that made r and the "
        "leaf p are coloured. The branch aside and the leaf q aren't, because they don't run.",
        "The coloured nodes run, because you can reach `r` or `p` from each of them.")
