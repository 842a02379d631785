# Stage 03, The engine: the exercise for minigrad/engine/graph_task.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03
# Names of the package's inside are explained in docs/en/glossary.md.

"""One backward pass: what it is to compute, and how far it has come.

`run` is the loop, `evaluate` one step of it: a node turns the gradients of its forward's outputs
into those of the inputs (`call`), and each goes into the buffer of the node at the end of its edge
(`route_gradients`).  Corner cases have methods of their own, below: `run_hooks_and_capture` for
tensor hooks and passes to given inputs, `call_with_hooks` for nodes with hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any

from .. import _state
from ..backend import DEVICES
from ..device import NO_PLACE, place_on
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.hooks import Table
from ..graph.node import GraphRoot, Node
from ..tensor.tensor import Tensor
from . import hooks
from .input_buffer import Gradient, InputBuffer, Value
from .places import place_of
from .validate import validate_outputs

Edge = tuple[Node | None, int]


def several_devices() -> bool:
    """Tell whether a device other than the CPU is in use."""
    return len(DEVICES) > 1


def on_tensors(create_graph: bool) -> bool:
    """Tell whether gradients are to be tensors here; see NOTE [Arrays or tensors]."""
    return create_graph or (_state.observers.count > 0 and _state.transform.get() is not None)


@dataclass(eq=False)
class GraphTask:
    """One backward pass: what it is to compute and how far it has come."""

    retain_graph: bool
    create_graph: bool
    on_tensors: bool = False  # whether gradients are tensors, see NOTE [Arrays or tensors]
    #: How many gradients a node still waits for.
    dependencies: dict[Node, int] = field(default_factory=dict)
    buffers: dict[Node, InputBuffer] = field(default_factory=dict)
    #: A heap, latest node first.
    ready: list[tuple[int, int, Node]] = field(default_factory=list)
    #: Leaves are all equally late: the one ready first runs first.
    turns: Iterator[int] = field(default_factory=count)
    #: The nodes on the way to the inputs that are asked for; None for all.
    nodes_to_execute: set[Node] | None = None
    #: The positions in the result of the gradients asked for, by node and output.
    captures: dict[Node, dict[int, list[int]]] = field(default_factory=dict)
    captured: dict[int, Value] = field(default_factory=dict)
    callbacks: list[Callable[..., Any]] = field(default_factory=list)
    recorder: Any = field(default_factory=_state.recorder.get)
    several_devices: bool = field(default_factory=several_devices)

    batched = False  # whether gradients are batches, see autograd/batched_grads.py

    # ---------------------------------------------------------------- before the pass

    def count_dependencies(self, root: Node) -> None:
        """Count the edges that lead into each node reachable from the root."""
        # 03.2 Dependencies (about 7 lines)
        # Fill the dictionary `self.dependencies`: for each node that can be reached from
        # `root`, the number of edges that lead into it, counted over all nodes that can be
        # reached, the root included. `node.edges` holds pairs (node, index); a node that is
        # None leads nowhere and is not counted. Mind: two edges from one node to another
        # count twice; however many ways lead to a node, its own edges are counted once; the
        # root gets no entry; a graph may be very deep, so no recursion.
        raise NotImplementedError("03.2 Dependencies is yours to write")

    def find_nodes_to_execute(self, root: Node, inputs: set[Node]) -> None:
        """Find the nodes from which an input can be reached; the others will not run."""
        # 03.5 Only what is asked for (about 19 lines)
        # `find_nodes_to_execute(root, inputs)`: set `self.nodes_to_execute` to the set of all
        # nodes on the way from `root` to one of the nodes `inputs`: these, and each node
        # reachable from root from which one of them can be reached, the root included.
        # `node.edges` holds pairs (node, index), with None for nowhere. Mind: a graph may be
        # deep, so no recursion; look at each node a bounded number of times, however many
        # ways lead to it. `capture(node, grads)`: `self.captures[node]` is a dictionary from
        # numbers of outputs to lists of positions; store `grads[number]` in
        # `self.captured[position]` for each. `runs(node)`: one that is captured (its entry in
        # `self.captures` is there and not empty) runs only if a node at the end of one of its
        # edges is in `self.nodes_to_execute`; any other if it is there itself.
        raise NotImplementedError("03.5 Only what is asked for is yours to write")

    # ---------------------------------------------------------------- the pass

    def run(self, root: Node) -> None:
        """Run the root and then every node that becomes ready."""
        # 03.4 Running (about 19 lines)
        # `run(root)`: give the root a buffer (`InputBuffer(root.num_inputs)`, in
        # `self.buffers`), push it, and evaluate the nodes that are ready,
        # `heappop(self.ready)[2]`, each with its buffer, which leaves `self.buffers`, until
        # none is. `self.evaluate` does it, or `_state.anomaly.watched(self.evaluate)` where
        # `_state.anomaly.enabled`. At the end call the functions in `self.callbacks`, first
        # one first, taking each from the list; a callback may add another. `evaluate(node,
        # buffer)`, in this order: (1) if the node has `extras` (hooks), or
        # `self.nodes_to_execute` is not None, ask `self.run_hooks_and_capture(node, buffer)`,
        # which is given, and stop where it says False; (2) an AccumulateGrad:
        # `self.accumulate(node, buffer)`, and stop; (3) `results = self.call(node,
        # buffer.grads)`; then `node.release()`, which frees what it saved, unless
        # `self.retain_graph`; then `self.route_gradients(node, buffer.grads, results)`.
        raise NotImplementedError("03.4 Running is yours to write")

    def push(self, node: Node) -> None:
        """Make a node ready to run."""
        # 03.3 The ready queue (about 10 lines)
        # `push(node)` puts a node on the queue of nodes that are ready, `self.ready`, a heap
        # from which `heappop` has to give the node with the greatest `sequence` first, the
        # latest of the forward: push the triple (-node.sequence, next(self.turns), node) with
        # `heappush`. (`next(self.turns)` gives a greater number each time, so of nodes with
        # equal `sequence` the one pushed first comes first, and nodes, which cannot be
        # compared, never are.) `add_to_buffer(target, index, gradient)` brings the gradient
        # of output `index` of a node. Where `self.nodes_to_execute` is a set (None: all nodes
        # run) and has not got the node, return at once. Its buffer is in `self.buffers`; for
        # the first gradient make one, `InputBuffer(target.num_inputs)`. Add the gradient with
        # `buffer.add(index, gradient)`, unless it is None, which stands for a gradient of
        # zero. Then count down `self.dependencies[target]`, for None as well. When the last
        # one has come, push the node.
        raise NotImplementedError("03.3 The ready queue is yours to write")

    def evaluate(self, node: Node, buffer: InputBuffer) -> None:
        """Run one node and route its results to the nodes they are for."""
        # 03.4 Running: see the task at `GraphTask.run`.
        raise NotImplementedError("03.4 Running is yours to write")

    def call(self, node: Node, grads: list[Value | None]) -> Sequence[Value | None]:
        """Turn the gradients that a node receives into those that it gives."""
        if node.extras is not None or self.recorder is not None or self.several_devices:
            return self.call_with_hooks(node, grads)
        return self.apply(node, grads)

    def apply(self, node: Node, grads: Sequence[Value | None]) -> Sequence[Value | None]:
        """Run the formulas of a node."""
        apply = node.apply_needed_tensors if self.on_tensors else node.apply_arrays
        return apply(grads, self.nodes_to_execute)

    def route_gradients(self, node: Node, received: Sequence[Value | None],
                        results: Sequence[Value | None]) -> None:
        """Add each result to the buffer of the node at the end of its edge."""
        with place_of(node, results) if self.several_devices else NO_PLACE:
            gradients = validate_outputs(node, received, results)
            if _state.anomaly.enabled and _state.anomaly.check_nan:
                _state.anomaly.check_gradients(node, [g and g.value for g in gradients])
            for (target, index), gradient in zip(node.edges, gradients, strict=True):
                if target is not None:
                    self.add_to_buffer(target, index, gradient)

    def add_to_buffer(self, target: Node, index: int, gradient: Gradient | None) -> None:
        """Add a gradient, if there is one, to a node's buffer; push the node when it has all."""
        # 03.3 The ready queue: see the task at `GraphTask.push`.
        raise NotImplementedError("03.3 The ready queue is yours to write")

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

    def run_hooks_and_capture(self, node: Node, buffer: InputBuffer) -> bool:
        """Run a node's tensor hooks and capture its gradients; tell whether the node runs."""
        runs = self.nodes_to_execute is None or self.runs(node)
        if runs and node in self.captures:
            self.capture(node, buffer.grads)  # before its hooks, as in PyTorch
        if node.extras is not None:
            self.run_tensor_hooks(node, buffer)
        if not runs and node in self.captures:
            self.capture(node, buffer.grads)
        return runs

    def capture(self, node: Node, grads: Sequence[Value | None]) -> None:
        """Keep the gradients that are asked for as results of the pass."""
        # 03.5 Only what is asked for: see the task at `GraphTask.find_nodes_to_execute`.
        raise NotImplementedError("03.5 Only what is asked for is yours to write")

    def runs(self, node: Node) -> bool:
        """Tell whether a captured or pruned node runs: only if something needed lies behind."""
        # 03.5 Only what is asked for: see the task at `GraphTask.find_nodes_to_execute`.
        raise NotImplementedError("03.5 Only what is asked for is yours to write")

    def end_at(self, root: GraphRoot, inputs: Sequence[Edge], accumulate: bool) -> None:
        """Run only the nodes on the way to `inputs`; capture their gradients or accumulate them."""
        # 03.6 A whole pass (about 30 lines)
        # `execute`: make the task, `kind(retain_graph, create_graph, on_tensors)`, where
        # `on_tensors` is True if the first of `grads` is a Tensor, and `root =
        # GraphRoot(edges, grads)`. With `inputs` (pairs of node or None, and number) call
        # `task.end_at(root, inputs, accumulate)`. Run with `_run_here(task, root)`, or
        # `_run_in_fresh_thread(task, root)` where `_running.tasks` holds MAX_DEPTH passes
        # already. Return a list with `task.captured.get(position)` for each input, empty
        # without inputs. `end_at`: call `self.find_nodes_to_execute(root, ends)` with the set
        # of the inputs' nodes that are not None. With `accumulate` call
        # `self.note_inputs(ends)`, which is given. Without it note in `self.captures`, for
        # each node that is not None, under the number, the list of the positions in `inputs`
        # that ask for it: one node may be asked for by several numbers, and one number by
        # several positions. Last, where the root has one edge alone, call
        # `self.note_lone_root(root)`, given too. `_run_here`: set the grad mode
        # (`_state.grad_enabled`, with `get` and `set`) to `task.create_graph`, append the
        # task to `_running.tasks`; then count the dependencies and run. However that ends,
        # take the task off and set the mode that was there before. (The package asks for a
        # quicker loop first, `shortcuts.run_task`; leave that out.)
        # `queue_callback(callback)`: append to `callbacks` of the innermost pass on this
        # thread, the last in `_running.tasks`; without one raise RuntimeError("Final
        # callbacks can only be installed during backward pass.").
        raise NotImplementedError("03.6 A whole pass is yours to write")

    def note_inputs(self, inputs: set[Node]) -> None:
        """Note the nodes at which the pass ends, and which run all the same, as in PyTorch.

        Their formulas are of no use to anyone, but what they saved is looked at, and freed.
        """
        needed = self.nodes_to_execute or set()
        for node in inputs:
            if node.is_op and not any(n in needed for n, _ in node.edges):
                self.captures[node] = {}

    def note_lone_root(self, root: GraphRoot) -> None:
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
        with place_of(node, grads) if self.several_devices else NO_PLACE:
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
        valid = validate_outputs(node, grads, results)
        shown = self.as_tensors([gradient and gradient.value for gradient in valid])
        needed = self.nodes_to_execute
        if needed is not None and not node.shows_all_results:
            shown = tuple(result if after in needed else None
                          for result, (after, _) in zip(shown, node.edges, strict=True))
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
