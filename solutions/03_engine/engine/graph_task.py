# Stage 03, The engine: the solution for minigrad/engine/graph_task.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""One backward pass: what it has to compute, and its progress.

`run` is the loop and `evaluate` is one iteration: a node turns the gradients of its outputs into
gradients of its inputs (`call`), and each result is added to the buffer of the node at the edge's
end (`route_gradients`).  Support for hooks, a profiler and several devices is in observed_task.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any

from .. import _state
from ..device import NO_PLACE
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import GraphRoot, Node
from ..tensor.tensor import Tensor
from .extra_nodes import note_extra_nodes
from .input_buffer import Gradient, InputBuffer, Value
from .observed_task import ObservedTask, check_nan
from .places import at_place_of
from .validate import validate_outputs

Edge = tuple[Node | None, int]


@dataclass(eq=False)
class GraphTask(ObservedTask):
    """One backward pass: what it has to compute, and its progress."""

    retain_graph: bool
    create_graph: bool
    on_tensors: bool = False  # whether gradients are tensors, see NOTE [Arrays or tensors]
    #: The number of gradients that each node still waits for.
    dependencies: dict[Node, int] = field(default_factory=dict)
    #: The gradients that have arrived for each node that has not run yet.
    buffers: dict[Node, InputBuffer] = field(default_factory=dict)
    #: A heap of the nodes that are ready to run, latest forward first.
    ready: list[tuple[int, int, Node]] = field(default_factory=list)
    #: A counter, so that nodes with equal sequence numbers run in the order they were pushed.
    turns: Iterator[int] = field(default_factory=count)
    #: The nodes on a path to the given inputs; `None` if all nodes run.
    nodes_to_execute: set[Node] | None = None
    #: For each node and output whose gradient `grad` returns, its positions in the result.
    captures: dict[Node, dict[int, list[int]]] = field(default_factory=dict)
    #: The gradients that `grad` returns, by position.
    captured: dict[int, Value] = field(default_factory=dict)
    #: Functions to call after all nodes have run.
    callbacks: list[Callable[..., Any]] = field(default_factory=list)

    # ---------------------------------------------------------------- all nodes

    def count_dependencies(self, root: Node) -> None:
        """Count the edges that lead into each node that the root reaches."""
        dependencies, stack = self.dependencies, [root]
        while stack:
            for node, _ in stack.pop().edges:
                if node is not None:
                    if node not in dependencies:
                        stack.append(node)
                    dependencies[node] = dependencies.get(node, 0) + 1

    def reaches(self, node: Node) -> bool:
        """Return whether the pass reaches a node."""
        return node in self.dependencies

    def push(self, node: Node) -> None:
        """Add a node to the heap of ready nodes."""
        heappush(self.ready, (-node.sequence, next(self.turns), node))

    def add_to_buffer(self, target: Node, index: int, gradient: Gradient | None) -> None:
        """Add a gradient, unless it is `None`, to a node's buffer; push the node if it is ready."""
        if target not in self.buffers:
            self.buffers[target] = InputBuffer(target.num_inputs)
        if gradient is not None:
            self.buffers[target].add(index, gradient)
        self.dependencies[target] -= 1
        if self.dependencies[target] == 0:
            self.push(target)

    def run(self, root: Node) -> None:
        """Run the root, and then every node when it is ready."""
        self.buffers[root] = InputBuffer(root.num_inputs)
        for node in self.in_turn(root):
            self.evaluate(node, self.buffers.pop(node))

    def in_turn(self, root: Node) -> Iterator[Node]:
        """Yield the root, and then the nodes as they become ready, latest forward first."""
        self.push(root)
        while self.ready:
            yield heappop(self.ready)[2]

    # ---------------------------------------------------------------- one node

    def evaluate(self, node: Node, buffer: InputBuffer) -> None:
        """Run one node and route its results to the next nodes."""
        special = node.extras is not None or self.nodes_to_execute is not None
        if special and not self.run_hooks_and_capture(node, buffer):
            return
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
            return
        results = self.call(node, buffer.grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, buffer.grads, results)

    def call(self, node: Node, grads: list[Value | None]) -> Sequence[Value | None]:
        """Turn the gradients of a node's outputs into gradients of its inputs."""
        if node.extras is not None or self.recorder is not None or self.several_devices:
            return self.call_with_hooks(node, grads)
        return self.apply(node, grads)

    def apply(self, node: Node, grads: Sequence[Value | None]) -> Sequence[Value | None]:
        """Run the formulas of a node."""
        apply = node.apply_needed_tensors if self.on_tensors else node.apply_arrays
        return apply(grads, self.nodes_to_execute)

    def route_gradients(self, node: Node, received: Sequence[Value | None],
                        results: Sequence[Value | None]) -> None:
        """Add each result to the buffer of the node at the edge's end."""
        needed = self.nodes_to_execute
        with at_place_of(node, results) if self.several_devices else NO_PLACE:
            gradients = validate_outputs(node, received, results)
            if _state.anomaly.enabled:
                check_nan(node, gradients)
            for (target, index), gradient in zip(node.edges, gradients, strict=True):
                if target is not None and (needed is None or target in needed):
                    self.add_to_buffer(target, index, gradient)

    def accumulate(self, node: AccumulateGrad, buffer: InputBuffer) -> None:
        """Add the gradient that arrived at a leaf to its `.grad`."""
        (grad,), (owned,) = buffer.grads, buffer.owned
        if (node.extras is not None or node.variable._extras.post_accumulate
                or self.recorder is not None or self.several_devices):
            self.accumulate_with_hooks(node, grad, owned)
        elif isinstance(grad, Tensor):
            node.apply_tensors((grad,))
        elif grad is not None:
            node.accumulate(grad, owned)

    # ---------------------------------------------------------------- a pass to given inputs

    def find_nodes_to_execute(self, root: Node, inputs: set[Node]) -> None:
        """Find the nodes that lead to one of `inputs`; no other node will run."""
        needed, entered, stack = set(inputs), set(), [root]
        while stack:
            node = stack[-1]
            if node not in entered:
                entered.add(node)
                stack += [n for n, _ in node.edges if n is not None and n not in entered]
                continue
            stack.pop()
            if any(n in needed for n, _ in node.edges):
                needed.add(node)
        self.nodes_to_execute = needed

    def end_at(self, root: GraphRoot, inputs: Sequence[Edge], accumulate: bool) -> None:
        """Limit the pass to the nodes on a path to `inputs`; capture or accumulate gradients."""
        ends = {node for node, _ in inputs if node is not None}
        self.find_nodes_to_execute(root, ends)
        if not accumulate:
            self.note_captures(inputs)
        note_extra_nodes(self, root, ends, accumulate)

    def note_captures(self, inputs: Sequence[Edge]) -> None:
        """Record at which positions of the result each input's gradient goes."""
        for position, (node, index) in enumerate(inputs):
            if node is not None:
                self.captures.setdefault(node, {}).setdefault(index, []).append(position)

    def capture(self, node: Node, grads: Sequence[Value | None]) -> None:
        """Store the gradients of a node that the pass has to return."""
        for index, positions in self.captures[node].items():
            for position in positions:
                self.captured[position] = grads[index]

    def runs(self, node: Node) -> bool:
        """Return whether a node runs; a captured one runs only if it leads to another input."""
        assert self.nodes_to_execute is not None
        captured = self.captures.get(node)
        if captured:
            return any(n in self.nodes_to_execute for n, _ in node.edges)
        return node in self.nodes_to_execute

    def run_hooks_and_capture(self, node: Node, buffer: InputBuffer) -> bool:
        """Run a node's tensor hooks and capture its gradients; return whether the node runs."""
        runs = self.nodes_to_execute is None or self.runs(node)
        if runs and node in self.captures:
            self.capture(node, buffer.grads)  # before its hooks, as in PyTorch
        if node.extras is not None:
            self.run_tensor_hooks(node, buffer)
        if not runs and node in self.captures:
            self.capture(node, buffer.grads)
        return runs
