# Stage 03, The engine: the exercise for minigrad/engine/graph_task.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03
# docs/en/glossary.md explains the names used inside the package.

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
        # 03.3 Dependencies (about 7 lines)
        # In `self.dependencies`, count the edges that lead into each node that you can reach
        # from `root`.
        #   root to a, a to b, a to b                   -> {a: 1, b: 2}
        #   root to a, a to b and c, both to d, d to e  -> {a: 1, b: 1, c: 1, d: 2, e: 1}
        # Mind:
        # - `node.edges` holds pairs (node, index). `None` isn't a node, and the root gets no
        #   entry.
        # - A node's own edges count once, however many paths lead to it.
        # - A graph may be thousands of nodes deep, so don't use recursion.
        raise NotImplementedError("03.3 Dependencies is yours to write")

    def reaches(self, node: Node) -> bool:
        """Return whether the pass reaches a node."""
        return node in self.dependencies

    def push(self, node: Node) -> None:
        """Add a node to the heap of ready nodes."""
        # 03.4 The ready queue (about 8 lines)
        # `push` puts a node on the heap `self.ready`, so that `heappop` returns the greatest
        # `sequence` first, and among equals the first one pushed. `add_to_buffer` adds a
        # gradient to the target's buffer, and pushes the target after its last gradient.
        #   pushed 3, 1, 4                   -> popped 4, 3, 1
        #   self.dependencies[a] is 2        -> the second gradient pushes a
        # Mind:
        # - Entries are triples (-sequence, next(self.turns), node).
        # - `None` means zero: count it, but don't add it.
        # Use: `heappush`, `InputBuffer(target.num_inputs)`.
        raise NotImplementedError("03.4 The ready queue is yours to write")

    def add_to_buffer(self, target: Node, index: int, gradient: Gradient | None) -> None:
        """Add a gradient, unless it is `None`, to a node's buffer; push the node if it is ready."""
        # 03.4 The ready queue: see the task at `GraphTask.push`.
        raise NotImplementedError("03.4 The ready queue is yours to write")

    def run(self, root: Node) -> None:
        """Run the root, and then every node when it is ready."""
        # 03.5 Running (about 13 lines)
        # `run` gives `root` an `InputBuffer(root.num_inputs)`, then evaluates each node that
        # `in_turn(root)` yields, with its buffer. `evaluate` runs one node: `self.call`
        # returns its results, and `self.route_gradients` sends them on. Unless
        # `self.retain_graph` is set, `node.release()` frees what the node saved.
        #   run on x * 3.0           -> x.grad is 3.0
        #   run on x * x, and again  -> RuntimeError: what the node saved is gone
        # Mind:
        # - Pass an AccumulateGrad to `self.accumulate` instead.
        # - If the node has `extras` (hooks) or `self.nodes_to_execute` is not `None` (section
        #   8), first ask `self.run_hooks_and_capture`. If it returns False, the node doesn't
        #   run.
        # - At the end, queue and buffers are empty.
        raise NotImplementedError("03.5 Running is yours to write")

    def in_turn(self, root: Node) -> Iterator[Node]:
        """Yield the root, and then the nodes as they become ready, latest forward first."""
        self.push(root)
        while self.ready:
            yield heappop(self.ready)[2]

    # ---------------------------------------------------------------- one node

    def evaluate(self, node: Node, buffer: InputBuffer) -> None:
        """Run one node and route its results to the next nodes."""
        # 03.5 Running: see the task at `GraphTask.run`.
        raise NotImplementedError("03.5 Running is yours to write")

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
        # 03.6 The nodes that have to run (about 11 lines)
        # Find the nodes that have to run: the nodes in `inputs`, and each node, including the
        # root, from which you can reach one of them. Store the set in
        # `self.nodes_to_execute`.
        #   root to a, a to b and d, b to c; inputs {c}   -> {root, a, b, c}
        #   the same graph; inputs {b}                    -> {root, a, b}
        # Mind:
        # - A graph may be thousands of nodes deep, so don't use recursion.
        # - Paths double at each fork, so look at each node only a few times.
        # - `None` in `node.edges` isn't a node. Leave `inputs` unchanged.
        raise NotImplementedError("03.6 The nodes that have to run is yours to write")

    def end_at(self, root: GraphRoot, inputs: Sequence[Edge], accumulate: bool) -> None:
        """Limit the pass to the nodes on a path to `inputs`; capture or accumulate gradients."""
        ends = {node for node, _ in inputs if node is not None}
        self.find_nodes_to_execute(root, ends)
        if not accumulate:
            self.note_captures(inputs)
        note_extra_nodes(self, root, ends, accumulate)

    def note_captures(self, inputs: Sequence[Edge]) -> None:
        """Record at which positions of the result each input's gradient goes."""
        # 03.7 Capturing gradients (about 11 lines)
        # `note_captures` records the positions at which the caller asked for each output of a
        # node. `capture` stores the gradients of these outputs, and `runs` returns whether a
        # node runs.
        #   note_captures([(a, 0), (b, 1), (a, 0)])
        #                     -> self.captures is {a: {0: [0, 2]}, b: {1: [1]}}
        #   capture(a, [g])   -> self.captured is {0: g, 2: g}
        # Mind:
        # - An input `(None, 0)` gets no entry, but it keeps its position.
        # - A captured node runs if one of its edges leads to a needed node, any other node if
        #   it's needed itself.
        # - A node with an empty entry isn't captured. Such entries are for corner cases.
        # Use: `self.nodes_to_execute`, the needed nodes.
        raise NotImplementedError("03.7 Capturing gradients is yours to write")

    def capture(self, node: Node, grads: Sequence[Value | None]) -> None:
        """Store the gradients of a node that the pass has to return."""
        # 03.7 Capturing gradients: see the task at `GraphTask.note_captures`.
        raise NotImplementedError("03.7 Capturing gradients is yours to write")

    def runs(self, node: Node) -> bool:
        """Return whether a node runs; a captured one runs only if it leads to another input."""
        # 03.7 Capturing gradients: see the task at `GraphTask.note_captures`.
        raise NotImplementedError("03.7 Capturing gradients is yours to write")

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
