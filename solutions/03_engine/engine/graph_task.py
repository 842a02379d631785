# Stage 03, The engine: the solution for minigrad/engine/graph_task.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.

"""One backward pass: what it is to compute, and how far it has come.

`run` is the loop, `evaluate` one step of it: a node turns the gradients of its forward's outputs
into those of the inputs (`call`), and each goes into the buffer of the node at the end of its edge
(`route_gradients`).  Corner cases have methods of their own, below: `call_with_hooks` and
`run_tensor_hooks` for nodes with hooks, `capture` and `runs` for passes to given inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from .. import _state
from ..backend import DEVICES
from ..device import place_on
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.hooks import Table
from ..graph.node import GraphRoot, Node
from ..tensor.tensor import Tensor
from . import hooks
from .input_buffer import Gradient, InputBuffer, Value, with_owner
from .places import ANYWHERE, place_of
from .validate import validate_outputs

Edge = tuple[Node | None, int]


def on_tensors(create_graph: bool) -> bool:
    """Tell whether gradients are to be tensors here; see NOTE [Arrays or tensors]."""
    return create_graph or (_state.observers.count > 0 and _state.transform.get() is not None)


class GraphTask:
    """One backward pass: what it is to compute and how far it has come."""

    batched = False  # whether gradients are batches, see autograd/batched_grads.py

    def __init__(self, retain_graph: bool, create_graph: bool) -> None:
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.on_tensors = on_tensors(create_graph)
        self.dependencies: dict[Node, int] = {}  # gradients that a node still waits for
        self.buffers: dict[Node, InputBuffer] = {}
        self.ready: list[tuple[int, int, Node]] = []  # a heap, latest node first
        self.turns = count()  # of leaves, which all are latest, the one ready first is first
        self.nodes_to_execute: set[Node] | None = None  # those on the way to inputs; None: all
        self.captures: dict[Node, dict[int, list[int]]] = {}  # node -> output -> positions
        self.captured: dict[int, Value] = {}
        self.callbacks: list[Callable[..., Any]] = []
        self.recorder = _state.recorder.get()
        self.several_devices = len(DEVICES) > 1

    # ---------------------------------------------------------------- before the pass

    def count_dependencies(self, root: Node) -> None:
        """Count the edges that lead into each node reachable from the root."""
        dependencies, stack = self.dependencies, [root]
        while stack:
            for node in stack.pop().next_nodes():
                if node is None:
                    continue
                if node in dependencies:
                    dependencies[node] += 1
                else:
                    dependencies[node] = 1
                    stack.append(node)

    def find_nodes_to_execute(self, root: Node, inputs: set[Node]) -> None:
        """Find the nodes from which an input can be reached; the others will not run."""
        needed, entered, stack = set(inputs), set(), [root]
        while stack:
            node = stack[-1]
            after = node.next_nodes()
            if node not in entered:
                entered.add(node)
                stack += [n for n in after if n is not None and n not in entered]
                continue
            stack.pop()
            if any(n in needed for n in after):
                needed.add(node)
        self.nodes_to_execute = needed

    # ---------------------------------------------------------------- the pass

    def run(self, root: Node) -> None:
        """Run the root and then every node that becomes ready."""
        self.buffers[root] = InputBuffer(root.num_inputs)
        self.push(root)
        anomaly = _state.anomaly
        evaluate = anomaly.watched(self.evaluate) if anomaly.enabled else self.evaluate
        while self.ready:
            node = heappop(self.ready)[2]
            evaluate(node, self.buffers.pop(node))
        while self.callbacks:
            self.callbacks.pop(0)()

    def push(self, node: Node) -> None:
        """Make a node ready to run."""
        heappush(self.ready, (-node.sequence, next(self.turns), node))

    def evaluate(self, node: Node, buffer: InputBuffer) -> None:
        """Run one node and route its results to the nodes they are for."""
        grads = buffer.grads
        runs = self.nodes_to_execute is None or self.runs(node)
        if runs and node in self.captures:
            self.capture(node, grads)  # before its hooks, as PyTorch does where the node goes on
        if node.extras is not None:
            self.run_tensor_hooks(node, buffer)
        if not runs:
            if node in self.captures:
                self.capture(node, grads)
            return
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
            return
        results = self.call(node, grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, grads, results)

    def call(self, node: Node, grads: list[Value | None]) -> Sequence[Value | None]:
        """Turn the gradients that a node receives into those that it gives."""
        if node.extras is not None or self.recorder is not None or self.several_devices:
            return self.call_with_hooks(node, grads)
        return self.apply(node, grads)

    def apply(self, node: Node, grads: Sequence[Value | None]) -> Sequence[Value | None]:
        """Run the formulas of a node."""
        if self.on_tensors:
            return node.apply_needed_tensors(grads, self.nodes_to_execute)
        return node.apply_arrays(grads, self.nodes_to_execute)

    def route_gradients(self, node: Node, received: Sequence[Value | None],
                        results: Sequence[Value | None]) -> None:
        """Add each result to the buffer of the node at the end of its edge."""
        with place_of(node, results) if self.several_devices else ANYWHERE:
            edges = node.edges
            gradients = validate_outputs(node, edges, with_owner(node, received, results))
            if _state.anomaly.enabled and _state.anomaly.check_nan:
                _state.anomaly.check_gradients(node, [g and g.value for g in gradients])
            for (target, index), gradient in zip(edges, gradients, strict=True):
                if target is not None:
                    self.add_to_buffer(target, index, gradient)

    def add_to_buffer(self, target: Node, index: int, gradient: Gradient | None) -> None:
        """Add a gradient, if there is one, to a node's buffer; push the node when it has all."""
        if self.nodes_to_execute is not None and target not in self.nodes_to_execute:
            return
        buffer = self.buffers.get(target)
        if buffer is None:
            buffer = self.buffers[target] = InputBuffer(target.num_inputs)
        if gradient is not None:
            buffer.add(index, gradient)
        self.dependencies[target] -= 1
        if not self.dependencies[target]:
            self.push(target)

    def accumulate(self, node: AccumulateGrad, buffer: InputBuffer) -> None:
        """Let a leaf add what arrived to its `.grad`."""
        (grad,), (owned,) = buffer.grads, buffer.owned
        if (node.extras is not None or node.variable._extras.post_accumulate
                or self.recorder is not None or self.several_devices):
            self.accumulate_with_hooks(node, grad, owned)
        elif isinstance(grad, Tensor):
            node.apply_tensors((grad,))
        elif grad is not None:
            node.accumulate(grad, owned)

    # ---------------------------------------------------------------- a pass to given inputs

    def capture(self, node: Node, grads: Sequence[Value | None]) -> None:
        """Keep the gradients that are asked for as results of the pass."""
        for index, positions in self.captures[node].items():
            for position in positions:
                self.captured[position] = grads[index]

    def runs(self, node: Node) -> bool:
        """Tell whether a captured or pruned node runs: only if something needed lies behind."""
        assert self.nodes_to_execute is not None
        captured = self.captures.get(node)
        if captured:
            return any(n in self.nodes_to_execute for n in node.next_nodes())
        return node in self.nodes_to_execute

    def prepare(self, root: GraphRoot, inputs: Sequence[Edge] | None, accumulate: bool) -> None:
        """See to the corner cases of a pass, after all else is decided."""
        if root.outputs and isinstance(root.outputs[0], Tensor):
            self.on_tensors = True
        if inputs is not None:
            if accumulate:
                self.run_inputs({node for node, _ in inputs if node is not None})
            if len(root.edges) == 1:
                self.run_hooks_of_lone_root(root)

    def run_inputs(self, inputs: set[Node]) -> None:
        """Note the nodes at which the pass ends, and which run all the same, as in PyTorch.

        Their formulas are of no use to anyone, but what they saved is looked at, and freed.
        """
        needed = self.nodes_to_execute or set()
        for node in inputs:
            if node.is_op and not any(n in needed for n in node.next_nodes()):
                self.captures[node] = {}

    def run_hooks_of_lone_root(self, root: GraphRoot) -> None:
        """Have the hooks of a single root run, even where no input lies behind it."""
        ((node, _),) = root.edges
        needed = self.nodes_to_execute
        if needed is not None and node is not None and node not in needed:
            self.nodes_to_execute = needed | {node, root}
            self.captures[node] = {0: []}

    # ---------------------------------------------------------------- hooks, profiler, devices

    def run_tensor_hooks(self, node: Node, buffer: InputBuffer) -> None:
        """Run the hooks of the forward's outputs, then fill `.grad` of those that retain it.

        The engine owns no gradient that a hook has seen.
        """
        extras = node.extras
        assert extras is not None
        if not (extras.tensor or extras.retained):
            return
        shown = list(self.as_tensors(buffer.grads))
        if extras.tensor:
            hooks.run_tensor_hooks(extras.tensor, shown)
            buffer.grads[:] = self.from_tensors(shown)
            buffer.owned = [False] * len(shown)
        if extras.retained:
            hooks.keep_retained(extras.retained, shown)

    def call_with_hooks(self, node: Node, grads: list[Value | None]) -> Sequence[Value | None]:
        """Do what `call` does, with hooks before and after, as an event of the profiler.

        The work is done where the forward was, or the gradients lie.
        """
        extras = node.extras
        with place_of(node, grads) if self.several_devices else ANYWHERE:
            if extras is not None and extras.pre:
                shown = hooks.run_pre_hooks(extras.pre, self.as_tensors(grads))
                grads[:] = self.from_tensors(shown)
            results = self.recorded(node, grads, self.apply, node, grads)
            if extras is not None and extras.post:
                results = self.run_post_hooks(node, extras.post, grads, results)
        return results

    def run_post_hooks(self, node: Node, table: Table, grads: Sequence[Value | None],
                       results: Sequence[Value | None]) -> Sequence[Value | None]:
        """Show a node's hooks its results as their receivers get them; return what goes on."""
        edges = node.edges
        valid = validate_outputs(node, edges, [None if r is None else Gradient(r)
                                               for r in results])
        shown = self.as_tensors([gradient and gradient.value for gradient in valid])
        needed = self.nodes_to_execute
        if needed is not None and not node.shows_all_results:
            shown = tuple(result if after in needed else None
                          for result, (after, _) in zip(shown, edges, strict=True))
        shown = hooks.run_post_hooks(table, shown, self.as_tensors(grads))
        return [None if r is None else borrowed(r) for r in self.from_tensors(shown)]

    def accumulate_with_hooks(self, node: AccumulateGrad, grad: Value | None,
                              owned: bool) -> None:
        """Do what `accumulate` does, with the leaf's hooks and as an event of the profiler."""
        extras = node.extras
        if extras is not None and extras.pre:
            (grad,) = self.from_tensors(hooks.run_pre_hooks(extras.pre, self.as_tensors([grad])))
            owned = False
        with place_on(node.variable._array):
            if isinstance(grad, Tensor):
                self.recorded(node, (grad,), node.apply_tensors, (grad,))
            elif grad is not None:
                self.recorded(node, (grad,), node.accumulate, grad, owned)
        waiting = node.variable._extras.post_accumulate
        if waiting:
            hooks.run_after_accumulation(waiting, node.variable)
        if extras is not None and extras.post:
            hooks.run_post_hooks(extras.post, (), self.as_tensors([grad]))

    def recorded(self, node: Node, grads: Sequence[Value | None], apply: Callable[..., Any],
                 *args: Any) -> Any:
        """Return `apply(*args)`, the work of a node; where a profiler is on, as an event of it."""
        if self.recorder is None:
            return apply(*args)
        return self.recorder.node(node, grads, apply, *args)

    def as_tensors(self, grads: Sequence[Value | None]) -> tuple[Any, ...]:
        """Return gradients as the user sees them."""
        return tuple(g if g is None or isinstance(g, Tensor) else Tensor._plain(g) for g in grads)

    def from_tensors(self, tensors: Sequence[Any]) -> list[Value | None]:
        """Return what the user gave as gradients of this pass."""
        if self.on_tensors:
            return list(tensors)
        return [t._array if isinstance(t, Tensor) else t for t in tensors]


def borrowed(grad: Value) -> Value:
    """Return a gradient that a hook returned, as a view, so that nothing takes it for its own."""
    return grad if isinstance(grad, Tensor) else grad[...]
