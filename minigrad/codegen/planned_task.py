"""A backward pass whose order is planned before it begins, where sequence numbers decide it.

`GraphTask` counts how many gradients each node waits for, and a heap says which node is next.  A
node is newer than the nodes behind it, so in a graph whose numbers can be compared the newest node
of those that wait is always ready: sorted once, the nodes need neither counts nor a heap.  They
run in the same order as in `GraphTask`, leaves as soon as their last gradient has come.

A node whose methods are generated (`is_written`) takes its gradient straight from a dictionary,
unless hooks, a profiler or a capture wait at it.  Every other node goes to `GraphTask.evaluate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from numpy import ndarray

from .. import _state
from ..backend import BACKENDS
from ..device import NO_PLACE, place_on
from ..engine.graph_task import GraphTask
from ..engine.input_buffer import Gradient, InputBuffer, Value, combine, writable
from ..engine.validate import match_metadata
from ..graph.node import Node
from ..tensor.tensor import Tensor

_by_sequence = attrgetter("sequence")


class PlannedTask(GraphTask):
    """A pass that knows its order beforehand; where it cannot, it runs as `GraphTask` does."""

    order: list[Any] | None = None  # the nodes but for root and leaves, the newest first
    known: frozenset[Any] | set[Any] = frozenset()  # the same as a set
    waiting: dict[Any, int]  # how many gradients each leaf still waits for
    due: list[Any]  # the leaves whose last gradient has come
    sums: dict[Any, Any]  # gradients of nodes with one output, in arrays that the engine owns
    loans: dict[Any, Any]  # and those in arrays that it does not own

    # ---------------------------------------------------------------- the plan

    def plan(self, root: Any) -> None:
        """Sort the nodes behind the root, the newest first; no plan if numbers do not decide.

        Also count how many gradients each leaf waits for.
        """
        known: set[Any] = set()
        waiting: dict[Any, int] = {}
        stack = [root]
        while stack:
            node = stack.pop()
            sequence, arity = node.sequence, node.arity
            if arity == 1:
                ends: Any = (node.next0,)
            elif arity == 2:
                ends = (node.next0, node.next1)
            else:
                ends = [end for end, _ in node.edges]
            for end in ends:
                if end is None:
                    continue
                if not end.arity:
                    waiting[end] = waiting.get(end, 0) + 1
                elif end.sequence >= sequence:
                    return
                elif end not in known:
                    known.add(end)
                    stack.append(end)
        self.known, self.waiting = known, waiting
        self.order = sorted(known, key=_by_sequence, reverse=True)

    def find_nodes_to_execute(self, root: Node, inputs: set[Node]) -> None:
        """Find the nodes from which an input can be reached, in one walk from the oldest on."""
        self.plan(root)
        if self.order is None:
            super().find_nodes_to_execute(root, inputs)
            return
        needed: set[Any] = {*inputs}
        waiting: dict[Any, int] = {}
        for node in [*reversed(self.order), root]:
            for end, _ in edges_of(node):
                if end in needed:
                    needed.add(node)
                    if not end.arity:
                        waiting[end] = waiting.get(end, 0) + 1
        self.nodes_to_execute, self.waiting = needed, waiting

    def count_dependencies(self, root: Node) -> None:
        """Plan the pass, and count for leaves alone; without a plan count as `GraphTask` does."""
        if self.order is None:
            self.plan(root)
        if self.order is None or _state.anomaly.enabled:
            self.order = None
            super().count_dependencies(root)
        elif (needed := self.nodes_to_execute) is not None:
            self.order = [node for node in self.order if node in needed]
            for end, _ in root.edges:  # a single root runs even where no input lies behind it
                if end in needed and not end.arity:
                    self.waiting.setdefault(end, 1)

    def reaches(self, node: Node) -> bool:
        """Tell whether the pass comes to a node."""
        return super().reaches(node) or node in self.known or node in self.waiting

    # ---------------------------------------------------------------- the pass

    def run(self, root: Any) -> None:
        """Run the root and then every node in its turn."""
        if self.order is None:
            super().run(root)
            return
        self.sums, self.loans, self.due = {}, {}, []
        if self.recorder is not None or self.several_devices:
            self.evaluate(root, InputBuffer(0))
        else:
            for (end, index), grad in zip(root.edges, root.outputs, strict=True):
                if end is not None:
                    self.send(root, end, index, grad, False)
        self.run_leaves()
        sums, loans, captures, needed = self.sums, self.loans, self.captures, self.nodes_to_execute
        watched, batched, keeps = self.recorder is not None, self.batched, self.retain_graph
        results: Any
        on_tensors, due, waiting = self.on_tensors, self.due, self.waiting
        for node in self.order:
            if watched or not node.is_written or node.extras is not None or (
                    captures and node in captures):
                self.evaluate(node, self.take(node))
                if due:
                    self.run_leaves()
                continue
            grad = sums.pop(node, None)
            if grad is None:
                grad = loans.pop(node, None)
            if batched:
                results = self.apply(node, (grad,))
            elif on_tensors:
                results = node.apply_needed_tensors((grad,), needed)
            else:
                results = node.apply_arrays((grad,), needed)
            if not keeps and node.saves:
                node.release()
            arity, alone = node.arity, True
            if arity == 1:
                ends: Any = ((node.next0, node.index0, results[0]),)
            elif arity == 2:
                first, second = results
                ends = ((node.next0, node.index0, first), (node.next1, node.index1, second))
                alone = first is not second
            else:
                ends = [(*edge, result) for edge, result in zip(node.edges, results, strict=True)]
                alone = are_distinct(results)
            for end, index, result in ends:
                if end is None:
                    continue
                array = result._array if type(result) is Tensor else result
                if type(array) is not ndarray or array.dtype is not end.dtype or (
                        array.shape != end.shape or index or end.arity < 0):
                    self.send(node, end, index, result, alone and result is not grad)
                elif end in sums and not on_tensors:
                    sums[end] += result
                    if not end.arity:
                        waiting[end] -= 1
                        if not waiting[end]:
                            due.append(end)
                elif end.arity and end not in loans and end not in sums:
                    owned = alone and not on_tensors and result is not grad and result.base is None
                    (sums if owned else loans)[end] = result
                else:
                    self.arrive(end, index, result, alone and result is not grad)
            if due:  # a leaf takes over memory only if no name here holds it too
                grad = result = array = results = ends = first = second = None
                self.run_leaves()

    def send(self, node: Any, end: Any, index: int, result: Value | None, owned: bool) -> None:
        """Bring a result into the form in which a node takes it, and add it to its gradients."""
        if self.nodes_to_execute is not None and end not in self.nodes_to_execute:
            return
        if result is None:
            self.arrive(end, index, None, False)
            return
        shape, dtype = end.metadata_of(index)
        array = result._array if type(result) is Tensor else result
        away = self.several_devices and type(array) in BACKENDS
        with place_on(array) if away else NO_PLACE:
            if type(array) not in BACKENDS or array.dtype is not dtype or array.shape != shape:
                position = [tuple(edge) for edge in node.edges].index((end, index))
                result = match_metadata(result, end, index, node, position)
                owned = owned or result is not array
            self.arrive(end, index, result, owned)

    def run_leaves(self) -> None:
        """Run the leaves whose last gradient has come."""
        due = self.due
        while due:
            leaf = due.pop(0)
            self.evaluate(leaf, self.take(leaf))

    def take(self, node: Any) -> InputBuffer:
        """Return the gradients that have come for a node."""
        buffer = self.buffers.pop(node, None)
        if buffer is None:
            buffer = InputBuffer(node.num_inputs)
            if (grad := self.sums.pop(node, None)) is not None:
                buffer.grads[0], buffer.owned[0] = grad, True
            else:
                buffer.grads[0] = self.loans.pop(node, None)
        return buffer

    def add_to_buffer(self, target: Node, index: int, gradient: Gradient | None) -> None:
        """Add a gradient, if there is one, to those of a node."""
        if self.order is None:
            super().add_to_buffer(target, index, gradient)
        else:
            self.arrive(target, index, *(gradient or (None, False)))

    def arrive(self, target: Any, index: int, grad: Value | None, owned: bool) -> None:
        """Add a gradient to those of a node; a leaf is due when it has its last one."""
        last = False
        if not target.arity:
            self.waiting[target] -= 1
            if last := not self.waiting[target]:
                self.due.append(target)
        if grad is None:
            return
        alone = last and target not in self.sums and target not in self.loans
        if alone or target.num_inputs > 1:
            if target not in self.buffers:
                self.buffers[target] = InputBuffer(target.num_inputs)
            self.buffers[target].add(index, Gradient(grad, owned))
        else:
            self.add(target, grad, owned)

    def add(self, target: Any, grad: Value, owned: bool) -> None:
        """Add a gradient to those of a node with one output, as `InputBuffer.add` does."""
        sums, loans = self.sums, self.loans
        total = sums.get(target)
        if total is not None and type(total) is type(grad) and writable(total):
            total += grad
        elif total is not None:
            sums[target] = combine(total, grad)
        elif target in loans:
            sums[target] = combine(loans.pop(target), grad)
        else:
            (sums if owned and writable(grad) else loans)[target] = grad


def are_distinct(results: Sequence[Any]) -> bool:
    """Tell whether no array is the result for two edges, so that each may be written to."""
    if len(results) == 2:
        return results[0] is not results[1]
    found = [*map(id, filter(lambda result: result is not None, results))]
    return len({*found}) == len(found)


def edges_of(node: Any) -> Sequence[tuple[Any, int]]:
    """Return a node's edges as plain pairs."""
    if node.arity == 1:
        return ((node.next0, node.index0),)
    if node.arity == 2:
        return ((node.next0, node.index0), (node.next1, node.index1))
    edges: Sequence[tuple[Any, int]] = node.edges
    return edges
