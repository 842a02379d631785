"""One backward pass to given inputs, from the newest node to the oldest, without counting.

It does what `GraphTask` does for graphs of ops alone, in less time; hooks, Functions, observers
and whatever else is unusual are the engine's.  See NOTE [Order without counting] in replay.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from .. import _state
from ..graph import Node
from .fitting import fit
from .graph_task import on_tensors
from .replay import added, edges_behind

Gradient = Any  # an array or a tensor

_by_sequence = attrgetter("sequence")


def sweep(starts: Sequence[Any], grads: Sequence[Gradient], goals: Sequence[Any], keep: bool,
          create_graph: bool, batched: bool = False) -> list[Gradient | None] | None:
    """Return the gradients that arrive at `goals`; None where the engine has to run the pass.

    Gradients are arrays, or with `create_graph` tensors that record what is done with them.  A
    pass on batches may fail at an op that has no rule, so what was saved is kept until its end.
    """
    if (not _state.specialised or _state.observers.count or _state.anomaly.enabled
            or on_tensors(create_graph) != create_graph):
        return None
    known = edges_behind([node for node, _ in starts])
    if known is None:
        return None
    ends = {node for node, _ in goals if node is not None}
    needed, running = set(ends), []
    for node in sorted(known, key=_by_sequence):
        for after, _ in known[node]:
            if after in needed:
                needed.add(node)
                running.append(node)
                if not hasattr(node, "op"):
                    return None
                break
    for node in needed:
        if node.extras is not None:
            return None
    if len(starts) == 1 and starts[0][0].extras is not None:
        return None  # whose hooks run even where no goal lies behind it
    arrived: dict[Any, Gradient] = {}
    for (node, index), grad in zip(starts, grads, strict=True):
        place = node if node is None or node.num_inputs == 1 else (node, index)
        before = arrived.get(place)
        arrived[place] = grad if before is None else added(before, grad)
    previous = _state.grad_enabled.get()
    try:
        _state.grad_enabled.set(create_graph)
        for node in reversed(running):
            run_node(node, known[node], needed, arrived, node in ends, create_graph)
            if not (keep or batched):
                node.release()
        if batched and not keep:
            for node in running:
                node.release()
    finally:
        _state.grad_enabled.set(previous)
    return [None if node is None else arrived.get(node if node.num_inputs == 1 else (node, index))
            for node, index in goals]


def run_node(node: Any, edges: Sequence[tuple[Node | None, int]], needed: set[Any],
             arrived: dict[Any, Gradient], is_goal: bool, on_tensors: bool) -> None:
    """Run one node and add each result to what has arrived where its edge leads."""
    runners = node.tensor_runners if on_tensors else node.runners
    if not runners:
        run_odd_node(node, edges, needed, arrived, on_tensors)
        return
    g = arrived.get(node) if is_goal else arrived.pop(node, None)
    if g is None:
        node.look_at_saved()
        return
    for position, (run, (after, index)) in enumerate(zip(runners, edges, strict=True)):
        if after is not None and after in needed:
            result = run(node, g)
            if result is not None:
                deliver(node, result, after, index, position, arrived, on_tensors)
        elif after is not None:
            node.look_at_saved()


def run_odd_node(node: Any, edges: Sequence[tuple[Node | None, int]], needed: set[Any],
                 arrived: dict[Any, Gradient], on_tensors: bool) -> None:
    """Run a node with several outputs or a list of inputs."""
    if node.num_inputs == 1:
        grads = [arrived.get(node)]
    else:
        grads = [arrived.get((node, i)) for i in range(node.num_inputs)]
    results = (node.apply_tensors if on_tensors else node.apply_arrays)(grads, needed)
    for position, (result, (after, index)) in enumerate(zip(results, edges, strict=True)):
        if result is not None and after is not None:
            deliver(node, result, after, index, position, arrived, on_tensors)


def deliver(node: Any, result: Gradient, after: Any, index: int, position: int,
            arrived: dict[Any, Gradient], on_tensors: bool) -> None:
    """Fit a result to its receiver and add it to what has arrived there."""
    shape, dtype = after.metadata_of(index)
    array = result._array if on_tensors else result
    if (getattr(array, "shape", None) != shape or array.dtype is not dtype
            or not (shape or on_tensors)):  # NumPy's formulas may give a number
        result = fit(result, after, index, node, position)
    place = after if after.num_inputs == 1 else (after, index)
    before = arrived.get(place)
    arrived[place] = result if before is None else added(before, result)
