"""The engine's fast path: the same pass as `GraphTask.run`, for plain arrays.

Most nodes of most graphs have one or two edges, one output and no hooks, and receive their whole
gradient in one piece.  For these a step is a formula and a few comparisons; the gradient goes
from node to node in a local variable, and no buffer or heap is touched while one node is ready.
Every other node is handed to `GraphTask.evaluate`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from time import perf_counter_ns
from typing import Any

import numpy as np

from .. import _state
from ..backend import BACKENDS, backend_of
from ..device import place_on
from ..engine import shortcuts
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import GraphRoot, Node
from ..op.apply import NO_PLACE
from .sorted_pass import gradients_at, jacobian_rows

_ndarray = np.ndarray


def suits(task: Any) -> bool:
    """Tell whether the pass needs nothing beyond what the fast path does.

    Of the observers it serves a profile alone, and only one that can be told of work afterwards.
    """
    watching, recorder = _state.observers.count, task.recorder
    if watching and not (watching == 1 and recorder is not None and recorder.quick):
        return False
    return not (task.on_tensors or task.batched)


def count_dependencies(root: Node, needed: Any) -> dict[Node, int]:
    """Count the edges into each node that will run; see `GraphTask.count_dependencies`."""
    dependencies: dict[Node, int] = {}
    stack: list[Any] = [root]
    push = stack.append
    while stack:
        node = stack.pop()
        for after in node.next_nodes():
            if after is None or (needed is not None and after not in needed):
                continue
            if after in dependencies:
                dependencies[after] += 1
            else:
                dependencies[after] = 1
                push(after)
    return dependencies


def fitted(task: Any, result: Any, target: Node, index: int, source: Node) -> tuple[Any, bool]:
    """Return a result as its receiver expects it, and whether that is another array, which is new.

    The engine owns such an array, whoever had the result.
    """
    made = task.fit(result, target, index, source)
    return made, made is not result


def install_loop() -> None:
    """Register the loops of this folder with the engine, which then asks them first."""
    shortcuts.run_task = run
    shortcuts.gradients_at = gradients_at
    shortcuts.jacobian_rows = jacobian_rows


def run(task: Any, root: GraphRoot) -> bool:
    """Run a whole pass and return True; False where the engine has to."""
    if not (_state.specialised and suits(task)):
        return False
    try:
        run_nodes(task, root)
    finally:
        vars(task).pop("deliver", None)  # the task and its `arrive` would hold each other
    while task.callbacks:
        task.callbacks.pop(0)()
    return True


def run_nodes(task: Any, root: GraphRoot) -> None:
    """Run the root and then every node that becomes ready."""
    needed, captures = task.needed, task.captures
    dependencies = task.dependencies = count_dependencies(root, needed)
    ready, turns, buffers, keep_graph = task.ready, task.turns, task.buffers, task.keep_graph
    recorder = task.recorder
    sums: dict[Any, Any] = {}  # gradients of nodes with one output that the engine owns
    loans: dict[Any, Any] = {}  # and those that it does not own, see NOTE [Who owns a gradient]

    def arrive(target: Any, index: int, result: Any, owned: bool) -> None:
        """Add a fitted gradient to what has come for a node; push the node when it has all."""
        if needed is not None and target not in needed:
            return
        left = dependencies[target] - 1
        if not left and result is not None and type(target) is AccumulateGrad and (
            recorder is None and target.extras is None and target not in captures
            and not target.variable._extras.post_accumulate
            and not (ready and ready[0][0] <= -target.sequence)
        ):  # it would be the next to run
            total = sums.pop(target, None)
            if total is not None:
                total += result
                target.accumulate(total, True)
            elif target in loans:
                target.accumulate(backend_of(result).as_array(loans.pop(target) + result), True)
            else:
                target.accumulate(result, owned)
            return
        if result is None:
            pass
        elif target.num_inputs > 1:
            if target not in buffers:
                buffers[target] = task.new_buffer(target)
            buffers[target].add(index, result, owned)
        elif (total := sums.get(target)) is not None:
            total += result
        elif target in loans:
            sums[target] = backend_of(result).as_array(loans.pop(target) + result)
        elif owned and result.base is None:
            sums[target] = result
        else:
            loans[target] = result
        if left:
            dependencies[target] = left
        else:
            heappush(ready, (-target.sequence, next(turns), target))

    task.deliver = arrive
    target: Any
    if recorder is not None:
        buffers[root] = task.new_buffer(root)
        task.push(root)
    else:
        for (target, index), given in zip(root.edges, root.outputs, strict=True):
            if target is not None:
                with NO_PLACE if type(given) is _ndarray else place_on(given):
                    arrive(target, index, task.fit(given, target, index, root), False)
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
            if grad is None or not node.vjp_fns or node.extras is not None or node in captures:
                buffer = buffers.pop(node, None)
                if buffer is None:
                    buffer = task.new_buffer(node)
                    buffer.grads[0], buffer.owned[0] = grad, owned
                task.evaluate(node, buffer)
                node = None
                continue
        if recorder is not None:
            start = perf_counter_ns()
        if node.arity < 0:
            results: list[Any] = [
                None if target is None or (needed is not None and target not in needed)
                else run_one(node, grad)
                for (target, _), run_one in zip(node.edge_list, node.vjp_fns, strict=True)
            ]
            if node.saves and (not any([result is not None for result in results]) or (
                needed is not None
                and any([end is not None and end not in needed for end, _ in node.edge_list])
            )):
                node.look_at_saved()
            if recorder is not None:
                recorder.node_ran(node, start, (grad,), results)
            if node.saves and not keep_graph:
                node.release()
            apart = len({id(r) for r in results}) == len(results)  # each is an array of its own
            passed_on, grad = id(grad), None
            for target, index in node.edge_list:
                result = results.pop(0)
                if target is not None:
                    owned = apart and id(result) != passed_on
                    if target.arity == 0:
                        shape, dtype = target.shape, target.dtype
                    else:
                        shape, dtype = target.metadata_of(index)
                    if (type(result) is not _ndarray and type(result) not in BACKENDS) or (
                        result.dtype is not dtype or result.shape != shape
                    ):
                        result, made = fitted(task, result, target, index, node)
                        owned = owned or made
                    arrive(target, index, result, owned)
            node = None
            continue
        target, index, runner = node.next0, node.index0, node.vjp_fns[0]
        other: Any = node.next1 if node.arity == 2 else None
        if needed is not None:
            if node.saves and any([end is not None and end not in needed
                                   for end in (target, other)]):
                node.look_at_saved()
            target = target if target in needed else None
            other = other if other in needed else None
        shared, both, second, second_owned = False, False, None, False
        if target is None and other is None:  # for one, a view that requires grad by its base
            if node.saves:
                node.look_at_saved()
                if not keep_graph:
                    node.release()
            node = None
            continue
        if other is not None:
            if target is None:
                target, index, runner = other, node.index1, node.vjp_fns[1]
            else:
                result = node.vjp_fns[1](node, grad)
                shared = result is grad
                second_owned = not shared
                place = node.index1
                if other.arity == 0:  # a leaf, read here because a call costs more
                    shape, dtype = other.shape, other.dtype
                else:
                    shape, dtype = other.metadata_of(place)
                if (type(result) is not _ndarray and type(result) not in BACKENDS) or (
                    result.dtype is not dtype or result.shape != shape
                ):
                    result, made = fitted(task, result, other, place, node)
                    second_owned = second_owned or made
                both, second = True, result
        result = runner(node, grad)
        if recorder is not None:
            recorder.node_ran(node, start, (grad,), (result, second))
        if node.saves and not keep_graph:
            node.release()
        # Of two ends that are ready at once, the first comes first; `target` may run on at once.
        if both and (target.vjp_fns or target.sequence < other.sequence):
            arrive(other, place, second, second_owned)
            both, second = False, None
        if index:
            shape, dtype = target.metadata_of(index)
        else:
            shape, dtype = target.shape, target.dtype
        fits = (type(result) is _ndarray or type(result) in BACKENDS) and (
            result.dtype is dtype and result.shape == shape)
        if (
            fits
            and target.vjp_fns
            and dependencies[target] == 1
            and target.extras is None
            and target not in captures
            and target not in sums
            and target not in loans
            and not (ready and ready[0][0] < -target.sequence)
        ):
            node, grad = target, result
        else:
            owned = result is not grad and not shared
            grad = None  # which a view in `result` may share its memory with
            if not fits:
                result, made = fitted(task, result, target, index, node)
                owned = owned or made
            arrive(target, index, result, owned)
            if both:
                arrive(other, place, second, second_owned)
            second = node = None
