"""One backward pass to given inputs, from the newest node to the oldest, without counting.

It does what `GraphTask` does for graphs of ops alone, in less time; hooks, Functions, observers
and whatever else is unusual are the engine's.  See NOTE [Order without counting] in replay.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from .. import _state
from ..backend import BACKENDS
from ..engine.graph_task import on_tensors
from ..engine.match_metadata import fit
from .replay import added, edges_behind

Gradient = Any  # an array or a tensor

_by_sequence = attrgetter("sequence")


def sweep(starts: Sequence[Any], grads: Sequence[Gradient], goals: Sequence[Any], keep: bool,
          create_graph: bool, batched: bool = False) -> list[Gradient | None] | None:
    """Return the gradients that arrive at `goals`; None where the engine has to run the pass.

    Gradients are arrays, or with `create_graph` tensors that record what is done with them.  A
    pass on batches may fail at an op that has no rule, so what was saved is kept until its end.
    """
    if (not _state.fast or _state.observers.count or _state.anomaly.enabled
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


def run_node(node: Any, edges: Sequence[tuple[Any, int]], needed: set[Any],
             arrived: dict[Any, Gradient], is_goal: bool, on_tensors: bool) -> None:
    """Run one node and add each result, fit for its receiver, to what has arrived there."""
    vjp_fns = node.tensor_vjp_fns if on_tensors else node.vjp_fns
    if vjp_fns:
        g = arrived.get(node) if is_goal else arrived.pop(node, None)
        if g is None:
            node.look_at_saved()
            return
    else:
        results = run_odd_node(node, needed, arrived, on_tensors)
    for position, (after, index) in enumerate(edges):
        if after not in needed:
            if vjp_fns and after is not None:
                node.look_at_saved()
            continue
        result = vjp_fns[position](node, g) if vjp_fns else results[position]
        if result is None:
            continue
        array = result._array if on_tensors else result
        shape, dtype = after.metadata_of(index)
        if type(array) not in BACKENDS or array.shape != shape or array.dtype is not dtype:
            result = fit(result, after, index, node, position)
        place = after if after.num_inputs == 1 else (after, index)
        before = arrived.get(place)
        arrived[place] = result if before is None else added(before, result)


def run_odd_node(node: Any, needed: set[Any], arrived: dict[Any, Gradient],
                 on_tensors: bool) -> Sequence[Gradient | None]:
    """Return what a node with several outputs or a list of inputs gives each of its edges."""
    if node.num_inputs == 1:
        grads = [arrived.get(node)]
    else:
        grads = [arrived.get((node, i)) for i in range(node.num_inputs)]
    results: Sequence[Gradient | None] = (
        node.apply_tensors if on_tensors else node.apply_arrays)(grads, needed)
    return results
