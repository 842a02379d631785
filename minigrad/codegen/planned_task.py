"""A backward pass that plans the order of its nodes in advance, from their sequence numbers.

`GraphTask` counts how many gradients each node waits for, and takes the next ready node from a
heap.  However, a node is always newer than the nodes to which it sends gradients.  If one thread
assigned all sequence numbers, the newest node that has not run is therefore always ready.  So it is
enough to sort the nodes once, without counts or a heap.  The order is the same as in `GraphTask`,
where each leaf runs as soon as its last gradient arrives.

A node with one output needs no `InputBuffer`, so `buffers` holds its gradient directly.  Unless
something observes the node, its generated step turns that gradient into gradients of the next
nodes.  `GraphTask.evaluate` handles every other node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .. import _state
from ..engine.graph_task import GraphTask
from ..engine.input_buffer import Gradient, InputBuffer, Value, combine, writable
from ..engine.validate import match_metadata
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import GraphRoot, Node

#: The input of a node so far: a buffer or, for a node with one output, a gradient.
Arrived = Any


@dataclass(eq=False)
class PlannedTask(GraphTask):
    """A pass that plans its order; if that is not possible, it runs as a `GraphTask`."""

    #: The nodes in the order in which they run; None if sequence numbers do not determine it.
    order: list[Node] | None = None
    #: The rank of each node that the pass reaches; a leaf has the number of its last predecessor.
    ranks: dict[Any, int] = field(default_factory=dict)
    #: The nodes whose gradient must not be written to; see NOTE [Who owns a gradient].
    borrowed: set[Node] = field(default_factory=set)
    unobserved = True  # whether there is an order and neither a profiler nor anomaly mode is on

    # ---------------------------------------------------------------- the plan

    def plan(self, root: Any) -> None:
        """Sort the nodes that the root reaches: newest first, each leaf after its last predecessor.

        If an edge leads to a node that is not older, there is no plan.
        """
        ranks: dict[Any, int] = {root: root.sequence}
        stack = [root]
        while stack:
            node = stack.pop()
            rank, arity = node.sequence, node.arity
            if arity == 1:
                ends: Iterable[Any] = (node.next0,)
            elif arity == 2:
                ends = (node.next0, node.next1)
            else:
                ends = [end for end, _ in node.edges]
            for end in ends:
                if end is None:
                    continue
                known = ranks.get(end)
                if known is None:
                    if end.arity:
                        ranks[end] = later = end.sequence
                        if later >= rank:
                            return
                        stack.append(end)
                    else:
                        ranks[end] = rank
                elif known >= rank:
                    if end.arity:
                        return
                    del ranks[end]  # leaves with the same predecessor run in the order of edges
                    ranks[end] = rank
        self.ranks = ranks
        self.order = sorted(ranks, key=ranks.__getitem__, reverse=True)

    def find_nodes_to_execute(self, root: Node, inputs: set[Node]) -> None:
        """Find the nodes that lead to one of `inputs`, in one walk that starts at the oldest."""
        self.plan(root)
        if self.order is None:
            super().find_nodes_to_execute(root, inputs)
            return
        needed: set[Any] = {*inputs}
        each: Any
        for each in reversed(self.order):
            arity = each.arity
            if arity == 1:
                leads_there = each.next0 in needed
            elif arity == 2:
                leads_there = each.next0 in needed or each.next1 in needed
            else:
                leads_there = arity < 0 and any([end in needed for end, _ in each.edges])
            if leads_there:
                needed.add(each)
        self.nodes_to_execute = needed

    def count_dependencies(self, root: Node) -> None:
        """Plan the pass; if there is no plan, count dependencies as `GraphTask` does."""
        if self.order is None:
            self.plan(root)
        self.unobserved = (self.order is not None and self.recorder is None
                           and not _state.anomaly.enabled)
        if self.order is None:
            super().count_dependencies(root)
        elif (needed := self.nodes_to_execute) is not None:
            self.order = [node for node in self.order if node in needed]

    def reaches(self, node: Node) -> bool:
        """Return whether the pass reaches a node."""
        return super().reaches(node) or node in self.ranks

    def in_turn(self, root: Node) -> Iterator[Node]:
        """Return the nodes in the planned order."""
        return super().in_turn(root) if self.order is None else iter(self.order)

    # ---------------------------------------------------------------- the pass

    def evaluate(self, node: Any, arrived: Arrived) -> None:
        """Run one node by its generated step or, if something observes it, as `GraphTask` does."""
        if arrived is None or node.extras is not None or not self.unobserved:
            self.hand_back(node, arrived)
        elif self.captures and node in self.captures:
            self.capture_or_run(node, arrived)
        elif node.is_written and not self.batched:
            (node.step_on_tensors if self.on_tensors else node.step_on_arrays)(self, arrived)
        elif node.is_written:
            self.step_on_batches(node, arrived)
        elif self.several_devices:
            self.hand_back(node, arrived)
        elif type(node) is GraphRoot:
            self.seed(node)
        elif type(node) is AccumulateGrad and not self.on_tensors and (
                not node.variable._extras.post_accumulate):
            node.accumulate(arrived, owned=node not in self.borrowed)
        else:
            self.hand_back(node, arrived)

    def step_on_batches(self, node: Any, arrived: Arrived) -> None:
        """Run the step of a node whose gradient is a batch; batched passes override this."""
        self.hand_back(node, arrived)

    def seed(self, root: GraphRoot) -> None:
        """Pass the initial gradients to the nodes of the roots."""
        needed = self.nodes_to_execute
        for position, ((end, _), grad) in enumerate(zip(root.edges, root.outputs, strict=True)):
            if end is not None and (needed is None or end in needed):
                if grad is None or end.num_inputs > 1 or grad.shape != end.shape:
                    self.route(root, position, grad, grad)
                else:  # `backward` has checked the dtype
                    self.add(end, grad, owned=False)

    def capture_or_run(self, node: Node, arrived: Arrived) -> None:
        """Capture a gradient that `grad` returns; also run its node if it leads to another one."""
        if type(arrived) is InputBuffer or self.runs(node):
            self.hand_back(node, arrived)
        else:
            self.capture(node, (arrived,))

    def hand_back(self, node: Node, arrived: Arrived) -> None:
        """Leave a node to `GraphTask.evaluate`, which expects a buffer."""
        if type(arrived) is not InputBuffer:
            buffer = InputBuffer(node.num_inputs)
            if arrived is not None:
                buffer.grads[0], buffer.owned[0] = arrived, node not in self.borrowed
            arrived = buffer
        super().evaluate(node, arrived)

    def route(self, node: Node, position: int, result: Value | None, received: Value) -> None:
        """Convert one result to the form that its receiver expects, and add it there."""
        target, index = node.edges[position]
        assert target is not None
        if result is not None:
            result = match_metadata(result, target, index, node, position)
        owned = result is not None and result is not received
        if target.num_inputs == 1:
            self.add(target, result, owned)
        else:
            self.add_to_buffer(target, index, None if result is None else Gradient(result, owned))

    def add_to_buffer(self, target: Node, index: int, gradient: Gradient | None) -> None:
        """Add a gradient, unless it is `None`, to the gradients that have arrived at a node."""
        if self.order is None:
            super().add_to_buffer(target, index, gradient)
        elif target.num_inputs == 1:
            self.add(target, *(gradient or (None, False)))
        else:
            buffer = self.buffers.setdefault(target, InputBuffer(target.num_inputs))
            if gradient is not None:
                buffer.add(index, gradient)

    def add(self, target: Node, grad: Value | None, owned: bool) -> None:
        """Add a gradient for a node with one output, with the rules of `InputBuffer.add`."""
        current: Arrived = self.buffers.get(target)
        if current is None:
            self.buffers[target] = grad  # type: ignore[assignment]  # instead of a buffer
            if not owned:
                self.borrowed.add(target)
        elif grad is None:
            pass
        elif target not in self.borrowed and type(current) is type(grad) and writable(current):
            current += grad
        else:
            self.buffers[target] = combine(current, grad)
            self.borrowed.discard(target)
