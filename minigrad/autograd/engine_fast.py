"""The engine's fast path: the same pass as `GraphTask.run`, for plain arrays.

Most nodes of most graphs have one or two edges, one output and no hooks, and receive their whole
gradient in one piece.  For these a step is a formula and a few comparisons; the gradient goes
from node to node in a local variable, and no buffer or heap is touched while one node is ready.
Every other node is handed to `GraphTask.evaluate`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from .. import _state
from ..backend import backend_of
from ..graph import Node

_ndarray = np.ndarray


def suits(task: Any) -> bool:
    """Tell whether the pass needs nothing beyond what the fast path does."""
    return not (task.create_graph or task.needed is not None or _state.observers.count)


def count_dependencies(root: Node) -> dict[Node, int]:
    """Count the edges into each node; see `GraphTask.count_dependencies`."""
    dependencies: dict[Node, int] = {}
    for first, _ in root.edges:
        if first is not None:
            dependencies[first] = dependencies.get(first, 0) + 1
    stack: list[Any] = list(dependencies)
    push = stack.append
    while stack:
        node = stack.pop()
        arity = node.arity
        if arity == 0:
            continue
        if arity < 0:
            following: Any = [n for n, _ in node.edges]
        elif arity == 1:
            following = (node.next0,)
        else:
            following = (node.next0, node.next1)
        for after in following:
            if after is None:
                continue
            if after in dependencies:
                dependencies[after] += 1
            else:
                dependencies[after] = 1
                push(after)
    return dependencies


def run(task: Any, root: Node) -> None:
    """Run a whole pass."""
    try:
        run_nodes(task, root)
    finally:
        vars(task).pop("deliver", None)  # the task and its `arrive` would hold each other
    while task.callbacks:
        task.callbacks.pop(0)()


def run_nodes(task: Any, root: Node) -> None:
    """Run the root and then every node that becomes ready."""
    dependencies = task.dependencies = count_dependencies(root)
    ready, buffers, keep_graph = task.ready, task.buffers, task.keep_graph
    sums: dict[Any, Any] = {}  # gradients of nodes with one output that the engine owns
    loans: dict[Any, Any] = {}  # and those that it does not own, see NOTE [Who owns a gradient]

    def arrive(target: Any, index: int, result: Any, owned: bool) -> None:
        """Add a fitted gradient to what has come for a node; push the node when it has all."""
        if result is None:
            pass
        elif target.num_inputs > 1:
            if target not in buffers:
                buffers[target] = task.new_buffer(target)
            buffers[target].add(index, result, owned)
        elif target in sums:
            total = sums[target]
            total += result
        elif target in loans:
            sums[target] = backend_of(result).as_array(loans.pop(target) + result)
        elif owned and result.base is None:
            sums[target] = result
        else:
            loans[target] = result
        left = dependencies[target] - 1
        if left:
            dependencies[target] = left
        else:
            heappush(ready, (-target.sequence, id(target), target))

    task.deliver = arrive
    buffers[root] = task.new_buffer(root)
    task.push(root)
    node: Any = None  # the node to run next, when its whole gradient is at hand in `grad`
    grad: Any = None
    while True:
        if node is None:
            if not ready:
                break
            node = heappop(ready)[2]
            grad, owned = sums.pop(node, None), True
            if grad is None:
                grad, owned = loans.pop(node, None), False
            if grad is None or not node.runners or node.extras is not None:
                buffer = buffers.pop(node, None)
                if buffer is None:
                    buffer = task.new_buffer(node)
                    buffer.grads[0], buffer.owned[0] = grad, owned
                task.evaluate(node, buffer)
                node = None
                continue
        target, index, runner = node.next0, node.index0, node.runners[0]
        shared = False
        if target is None and (node.arity == 1 or node.next1 is None):
            node = None  # its input was a view that requires grad only through its base
            continue
        if node.arity == 2 and node.next1 is not None:
            if target is None:
                target, index, runner = node.next1, node.index1, node.runners[1]
            else:
                result = node.runners[1](node, grad)
                shared = result is grad
                other, place = node.next1, node.index1
                shape, dtype = other.metadata_of(place)
                if type(result) is not _ndarray or result.dtype is not dtype or (
                    result.shape != shape
                ):
                    result = task.fit(result, other, place, node)
                arrive(other, place, result, not shared)
        result = runner(node, grad)
        if node.saves and not keep_graph:
            node.release()
        if index:
            shape, dtype = target.metadata_of(index)
        else:
            shape, dtype = target.shape, target.dtype
        fits = type(result) is _ndarray and result.dtype is dtype and result.shape == shape
        if (
            fits
            and target.runners
            and dependencies[target] == 1
            and target.extras is None
            and target not in sums
            and target not in loans
            and not (ready and ready[0][0] < -target.sequence)
        ):
            node, grad = target, result
        else:
            owned = result is not grad and not shared
            arrive(target, index, result if fits else task.fit(result, target, index, node), owned)
            node = None
