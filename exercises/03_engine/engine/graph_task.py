# Stage 03, The engine: the exercise for minigrad/engine/graph_task.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03

"""One backward pass: what it is to compute, and how far it has come.

NOTE [Arrays or tensors]
    Without `create_graph` gradients travel as bare arrays and the formulas run on them; hooks and
    Functions, which are the user's, get tensors made for them.  With `create_graph` gradients are
    tensors and grad mode is on, so the backward pass leaves a graph of its own.  They are tensors
    too inside forward mode, whose tangents go through the backward pass like through all else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from .. import _state
from ..autograd import anomaly_mode
from ..backend import BACKENDS
from ..device import NO_PLACE, place_on
from ..fast import backward_loop as engine_fast
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.hooks import Extras
from ..graph.node import GraphRoot, Node
from ..op.node import OpNode
from ..tensor.tensor import Tensor
from .hooks import (
    keep_retained,
    run_after_accumulation,
    run_post_hooks,
    run_pre_hooks,
    run_tensor_hooks,
)
from .match_metadata import fit

Array = Any
Edge = tuple[Node | None, int]
Gradient = Any  # an array or a tensor, see NOTE [Arrays or tensors]


class InputBuffer:
    """The gradients that have arrived for one node, one for each output of its forward."""

    __slots__ = ("grads", "owned")

    def __init__(self, size: int) -> None:
        self.grads: list[Gradient | None] = [None] * size
        self.owned = [False] * size  # see NOTE [Who owns a gradient] in accumulate.py

    def add(self, index: int, grad: Gradient, owned: bool) -> None:
        """Add a gradient for output `index`; writes only to memory that the engine owns."""
        # 03.1 Gradients that meet. Add `grad` (an array, or a Tensor in a pass that leaves a
        # graph) to what has come for output `index` so far, `self.grads[index]`: None before
        # the first. The first one is kept as it is, and `self.owned[index]` becomes `owned`.
        # A later one is added. Neither `grad` nor a borrowed array may ever be written to:
        # adding in place is allowed only to an array that is owned and `writable` (no view).
        # Adding out of place is always right. A sum that you made yourself of two arrays
        # belongs to the engine, so `self.owned[index]` may be True for it; a sum of Tensors
        # is never owned, and is made with `+`, so that it has both histories. NumPy adds two
        # arrays without dimensions to a number, which is no array: turn a total whose type is
        # not in BACKENDS, and that is no Tensor, back with np.asarray.
        raise NotImplementedError("03.1 Gradients that meet is yours to write")


def writable(array: Array) -> bool:
    """Tell whether an owned array may be added to in place: it must have its memory to itself."""
    return type(array) in BACKENDS and array.base is None


def on_tensors(create_graph: bool) -> bool:
    """Tell whether gradients are to be tensors here; see NOTE [Arrays or tensors]."""
    return create_graph or (_state.observers.count > 0 and _state.transform.get() is not None)


class GraphTask:
    """One backward pass: what it is to compute and how far it has come."""

    batched = False  # whether gradients are batches, see batched.py

    def __init__(self, keep_graph: bool, create_graph: bool) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.on_tensors = on_tensors(create_graph)
        self.dependencies: dict[Node, int] = {}  # gradients that a node still waits for
        self.buffers: dict[Node, InputBuffer] = {}
        self.ready: list[tuple[int, int, Node]] = []  # a heap, latest node first
        self.turns = count()  # of leaves, which all are latest, the one ready first is first
        self.needed: set[Node] | None = None  # nodes on the way to the inputs; None: all
        self.captures: dict[Node, dict[int, list[int]]] = {}  # node -> output -> positions
        self.captured: dict[int, Gradient] = {}
        self.callbacks: list[Callable[..., Any]] = []
        self.recorder = _state.recorder.get()

    def count_dependencies(self, root: Node) -> None:
        """Count the edges that lead into each node reachable from the root."""
        # 03.2 Dependencies. Fill the dictionary `self.dependencies`: for each node that can
        # be reached from `root`, the number of edges that lead into it, counted over all
        # nodes that can be reached, the root included. The edges of a node are `node.edges`,
        # pairs (node or None, number); None leads nowhere and is not counted. Two edges from
        # one node to another count twice. However many ways lead to a node, its own edges are
        # counted once. The root itself gets no entry. A graph may be very deep: do not use
        # recursion.
        raise NotImplementedError("03.2 Dependencies is yours to write")

    def restrict_to(self, root: Node, goals: set[Node]) -> None:
        """Find the nodes from which a goal can be reached; the others will not run."""
        # 03.5 Only what is asked for. `restrict_to(root, goals)`: set `self.needed` to the
        # set of all nodes on the way from `root` to one of the nodes `goals`: the goals, and
        # each node reachable from root from which a goal can be reached, the root included.
        # Nodes are joined by `engine_fast.following(node)`, the nodes that come after one,
        # None among them (or use `node.edges`). A graph may be deep: no recursion; and each
        # node is looked at a bounded number of times, however many ways lead to it.
        # `capture(node, grads)`: `self.captures[node]` is a dictionary from numbers of
        # outputs to lists of positions; store `grads[number]` in `self.captured[position]`
        # for each of them. `runs(node)`: tell whether a node runs in a pass with inputs. One
        # that is captured (its entry in `self.captures` is there and not empty) runs only if
        # a node right after it (`node.edges`) is needed; any other if it is itself in
        # `self.needed`.
        raise NotImplementedError("03.5 Only what is asked for is yours to write")

    def prepare(self, root: GraphRoot, inputs: Sequence[Edge] | None, accumulate: bool) -> None:
        """See to the corner cases of a pass, after all else is decided."""
        if root.outputs and isinstance(root.outputs[0], Tensor):
            self.on_tensors = True
        if inputs is not None:
            if accumulate:
                self.run_ends({node for node, _ in inputs if node is not None})
            if len(root.edges) == 1:
                self.show_lone_root(root)

    def run_ends(self, goals: set[Node]) -> None:
        """Note the nodes at which the pass ends, and which run all the same, as in PyTorch.

        Their formulas are of no use to anyone, but what they saved is looked at, and freed.
        """
        needed = self.needed or set()
        for node in goals:
            if hasattr(node, "op") and not any(n in needed for n, _ in node.edges):
                self.captures[node] = {}

    def show_lone_root(self, root: GraphRoot) -> None:
        """Have the hooks of a single root run, even where no input lies behind it."""
        ((node, _),) = root.edges
        if self.needed is not None and node is not None and node not in self.needed:
            self.needed |= {node, root}
            self.captures[node] = {0: []}

    def push(self, node: Node) -> None:
        """Make a node ready to run."""
        # 03.3 The ready queue. `push(node)` puts a node on the queue of nodes that are ready,
        # `self.ready`, a heap from which `heappop` has to give the node with the greatest
        # `sequence` first, the latest of the forward: push the triple (-node.sequence,
        # next(self.turns), node) with `heappush`. (`next(self.turns)` gives a greater number
        # each time, so of nodes with equal `sequence` the one pushed first comes first, and
        # nodes, which cannot be compared, never are.) `deliver(target, index, grad, owned)`
        # brings the gradient of output `index` of a node. Its buffer is in `self.buffers`;
        # for the first gradient make one with `self.new_buffer(target)`. Add `grad` with
        # `buffer.add(index, grad, owned)`, unless it is None, which stands for a gradient of
        # zero. Then count down `self.dependencies[target]`, for None as well. When the last
        # one has come, push the node if it is needed: `self.needed` is None (all are) or has
        # it. Of a node that is not needed remove the buffer instead.
        raise NotImplementedError("03.3 The ready queue is yours to write")

    def run(self, root: Node) -> None:
        """Run the root and then every node that becomes ready."""
        # 03.4 Running. `run(root)`: give the root a buffer (`self.new_buffer(root)`, in
        # `self.buffers`), push it, and then evaluate the nodes that are ready,
        # `heappop(self.ready)[2]`, each with its buffer, which leaves `self.buffers`, until
        # none is. What evaluates is `self.evaluate`, or `anomaly_mode.watched(self.evaluate)`
        # where `_state.anomaly.enabled`. At the end call the functions in `self.callbacks`,
        # first one first, taking each from the list; a callback may add another.
        # `evaluate(node, buffer)` runs one node, in this order. (1) It runs if `self.needed`
        # is None or `self.runs(node)`. (2) If it runs and is in `self.captures`:
        # `self.capture(node, buffer.grads)`. (3) If it has `extras`: `self.show(node,
        # node.extras, buffer)`, which runs the hooks and may put other gradients into
        # `buffer.grads`. (4) If it does not run: capture it now, if it is in `self.captures`,
        # and stop. (5) If it is an AccumulateGrad: `self.accumulate(node, buffer)`, and stop.
        # (6) `results = self.call(node, buffer.grads)`, where its forward ran (`with
        # place_of(node):`, for all of this step); then `node.release()`, which frees what it
        # saved, unless `self.keep_graph`; then `self.hand_out(node, node.edges, buffer.grads,
        # results)`.
        raise NotImplementedError("03.4 Running is yours to write")

    def evaluate(self, node: Node, buffer: InputBuffer) -> None:
        """Run one node and hand its results to the nodes they are for."""
        # 03.4 Running. See the task at `GraphTask.run`.
        raise NotImplementedError("03.4 Running is yours to write")

    def capture(self, node: Node, grads: Sequence[Gradient | None]) -> None:
        """Keep the gradients that are asked for as results of the pass."""
        # 03.5 Only what is asked for. See the task at `GraphTask.restrict_to`.
        raise NotImplementedError("03.5 Only what is asked for is yours to write")

    def runs(self, node: Node) -> bool:
        """Tell whether a captured or pruned node runs: only if something needed lies behind."""
        # 03.5 Only what is asked for. See the task at `GraphTask.restrict_to`.
        raise NotImplementedError("03.5 Only what is asked for is yours to write")

    def call(self, node: Node, grads: list[Gradient | None]) -> Sequence[Gradient | None]:
        """Apply the node, its hooks before and after."""
        extras = node.extras
        if extras is not None and extras.pre:
            grads[:] = self.from_tensors(run_pre_hooks(extras.pre, self.as_tensors(grads)))
        with place_beside(node, grads):
            results = self.observed(node, grads, self.apply, node, grads)
        if extras is not None and extras.post:
            results = self.checked(node, results)
            op = getattr(node, "op", None)  # a Function shows all, as does an op on a list
            if self.needed is not None and op is not None and op.list_of_tensors is None:
                results = [result if after in self.needed else None
                           for result, (after, _) in zip(results, node.edges, strict=True)]
            out = self.as_tensors(results)
            out = run_post_hooks(extras.post, out, self.as_tensors(grads))
            results = [None if r is None else borrowed(r) for r in self.from_tensors(out)]
        return results

    def apply(self, node: Node, grads: Sequence[Gradient | None]) -> Sequence[Gradient | None]:
        """Turn the gradients that a node receives into those that it gives."""
        if self.on_tensors:
            if isinstance(node, OpNode):
                return node.apply_tensors(grads, self.needed)
            return node.apply_tensors(grads)
        return node.apply_arrays(grads, self.needed)

    def observed(self, node: Node, grads: Sequence[Gradient | None], apply: Callable[..., Any],
                 *args: Any) -> Any:
        """Return `apply(*args)`, the work of a node; where a profiler is on, as an event of it."""
        if self.recorder is None:
            return apply(*args)
        return self.recorder.node(node, grads, apply, *args)

    def checked(self, node: Node, results: Sequence[Gradient | None]) -> list[Gradient | None]:
        """Return the results as their receivers expect them."""
        if len(results) != len(node.edges):
            raise RuntimeError(f"Function {node.name()} returned an invalid number of gradients - "
                               f"got {len(results)}, but expected {len(node.edges)}")
        return [
            g if g is None or n is None else fit(g, n, i, node, position)
            for position, (g, (n, i)) in enumerate(zip(results, node.edges, strict=True))
        ]

    def hand_out(self, node: Node, edges: Any, grads: Any, results: Any) -> None:
        """Add each result to the buffer of the node it is for, and push those that are complete."""
        foreign = isinstance(node, GraphRoot) or borrows(node)
        passed_on = [id(g) for g in grads]
        all_results = [id(r) for r in results]
        with place_beside(node, results):
            checked = self.checked(node, results)
            if _state.anomaly.enabled and _state.anomaly.check_nan:
                anomaly_mode.check_nan(node, checked)
            for (target, index), grad, raw in zip(edges, checked, results, strict=True):
                if target is not None:
                    owned = not (foreign or id(raw) in passed_on or all_results.count(id(raw)) > 1)
                    self.deliver(target, index, grad, owned)

    def new_buffer(self, node: Node) -> InputBuffer:
        """Make the buffer of a node to which nothing has come yet."""
        return InputBuffer(node.num_inputs)

    def deliver(self, target: Node, index: int, grad: Gradient | None, owned: bool) -> None:
        """Add a gradient, if there is one, to a node's buffer; push the node when it has all."""
        # 03.3 The ready queue. See the task at `GraphTask.push`.
        raise NotImplementedError("03.3 The ready queue is yours to write")

    def fit(self, grad: Gradient, target: Node, index: int, source: Node) -> Gradient:
        """Return one result of `source` as its receiver expects it."""
        if grad is None:
            return None
        position = list(source.edges).index((target, index))
        return fit(grad, target, index, source, position)

    def accumulate(self, node: AccumulateGrad, buffer: InputBuffer) -> None:
        """Let a leaf add what arrived to its `.grad`, then run the hooks that wait for that."""
        (grad,) = buffer.grads
        extras = node.extras
        if extras is not None and extras.pre:
            (grad,) = self.from_tensors(run_pre_hooks(extras.pre, self.as_tensors([grad])))
            buffer.owned[0] = False
        with place_on(node.variable._array):
            if isinstance(grad, Tensor):
                self.observed(node, (grad,), node.apply_tensors, (grad,))
            elif grad is not None:
                self.observed(node, (grad,), node.accumulate, grad, buffer.owned[0])
        after = node.variable._extras.post_accumulate
        if after:
            run_after_accumulation(after, node.variable)
        if extras is not None and extras.post:
            run_post_hooks(extras.post, (), self.as_tensors([grad]))

    def show(self, node: Node, extras: Extras, buffer: InputBuffer) -> None:
        """Run the tensor hooks of a node; what they saw or replaced is no longer owned."""
        before = list(buffer.grads)
        self.run_tensor_hooks(node, buffer.grads)
        buffer.owned = [owned and grad is was and not extras.tensor
                        for owned, grad, was in zip(buffer.owned, buffer.grads, before,
                                                    strict=True)]

    def run_tensor_hooks(self, node: Node, grads: list[Gradient | None]) -> None:
        """Run the hooks of the forward's outputs, then fill `.grad` of those that retain it."""
        extras = node.extras
        assert extras is not None
        shown = list(self.as_tensors(grads))
        if extras.tensor:
            run_tensor_hooks(extras.tensor, shown)
        if extras.retained:
            keep_retained(extras.retained, shown)
        grads[:] = self.from_tensors(shown)

    def as_tensors(self, grads: Sequence[Gradient | None]) -> tuple[Any, ...]:
        """Return gradients as the user sees them."""
        return tuple(g if g is None or isinstance(g, Tensor) else Tensor._plain(g) for g in grads)

    def from_tensors(self, tensors: Sequence[Any]) -> list[Gradient | None]:
        """Return what the user gave as gradients of this pass."""
        if self.on_tensors:
            return list(tensors)
        return [t._array if isinstance(t, Tensor) else t for t in tensors]


def place_of(node: Node) -> AbstractContextManager[Any]:
    """Return a context for the node's work: the device where its forward ran."""
    extras = node.extras
    return NO_PLACE if extras is None or extras.place is None else extras.place.entered()


def place_beside(node: Node, grads: Sequence[Gradient | None]) -> AbstractContextManager[Any]:
    """Return a context for the work of a node that is no op's: where its gradients lie."""
    if isinstance(node, OpNode):
        return NO_PLACE
    array = next((getattr(g, "_array", g) for g in grads if g is not None), None)
    return NO_PLACE if array is None else place_on(array)


def borrows(node: Node) -> bool:
    """Tell whether what a node returns may be held by the user."""
    return not hasattr(node, "op") or (node.extras is not None and bool(node.extras.post))


def borrowed(grad: Gradient) -> Gradient:
    """Return a gradient that a hook returned, as a view, so that nothing takes it for its own."""
    return grad if isinstance(grad, Tensor) else grad[...]
