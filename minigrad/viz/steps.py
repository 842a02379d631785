"""Recording of a backward pass while it runs.

`Recording` is a subclass of the engine's `GraphTask`. It overrides the methods worth showing,
records each call, and lets the engine do the work.  So the record shows what really happens, and
the gradients are the same as in any other pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappush
from itertools import islice
from typing import Any

from .. import _state
from ..autograd.backward import root_edges, root_gradients
from ..engine.engine import execute
from ..engine.graph_task import GraphTask
from ..engine.input_buffer import Gradient, InputBuffer
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import GraphRoot, Node
from ..tensor.tensor import Tensor
from . import sentences
from .names import Names
from .values import Value, value_of
from .walk import node_saves, root_nodes, walk

Buffer = tuple[Value | None, ...]


@dataclass(frozen=True)
class EdgeView:
    """An edge of a node: the number of the next node, or `None`, and the input number there."""

    target: int | None
    index: int


@dataclass(frozen=True)
class NodeView:
    """Description of a node; `number` is its index in `BackwardSteps.nodes`."""

    number: int
    name: str
    role: str  # "root", "leaf" or "op"
    sequence: int | None  # `None` for the root and for leaves
    called: str  # the name of the leaf, or of the operation's results
    shapes: tuple[tuple[int, ...], ...]  # of the operation's outputs, and so of the gradients
    edges: tuple[EdgeView, ...]
    saved: tuple[str, ...]

    def __str__(self) -> str:
        if self.role == "leaf":
            return f"{self.name} of {self.called or 'a leaf'}"
        return self.name if self.sequence is None else f"{self.name} (sequence {self.sequence})"


@dataclass(frozen=True)
class Step:
    """A step, and the state after it; nodes are identified by their numbers."""

    #: "count", "pop", "hook", "apply", "arrive", "write", "end" or "error".
    event: str
    text: str
    #: The node that runs.
    node: int | None
    #: The index of the edge of `node` along which a gradient has just gone.
    edge: int | None
    #: The gradient that has just moved.
    value: Value | None
    #: The ready queue before and after the step, with the next node first.
    queue_before: tuple[int, ...]
    queue: tuple[int, ...]
    #: How many gradients each node still waits for.
    waiting: dict[int, int]
    #: The buffers of nodes that have not run, with one entry for each output of the forward.
    buffers: dict[int, Buffer]
    #: The gradients that the running node got, and the ones it returned, one for each edge.
    given: Buffer
    results: Buffer
    #: `.grad` of each leaf, and of each result that retains its gradient, by node and output.
    grads: dict[tuple[int, int], Value | None]
    #: The nodes that have run, in order.
    done: tuple[int, ...]


class Diary:
    """The record of a pass so far; `add` appends the next step."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.nodes: list[NodeView] = []
        self.steps: list[Step] = []
        self.numbers: dict[Node, int] = {}
        self.queue: tuple[int, ...] = ()
        self.waiting: dict[int, int] = {}
        self.buffers: dict[int, Buffer] = {}
        self.grads: dict[tuple[int, int], Value | None] = {}
        self.done: tuple[int, ...] = ()
        self.node: int | None = None
        self.given: Buffer = ()
        self.results: Buffer = ()

    def add(self, event: str, text: str, task: GraphTask, *, edge: int | None = None,
            value: Value | None = None) -> None:
        """Append a step, with the state after it."""
        before = self.queue
        self.queue = tuple(self.numbers[node] for _, _, node in sorted(task.ready))
        self.steps.append(Step(
            event, text, self.node, edge, value, before, self.queue, dict(self.waiting),
            dict(self.buffers), self.given, self.results, dict(self.grads), self.done))

    def describe(self, root: Node) -> None:
        """Number all nodes of the graph, starting with the nearest to the root."""
        self.numbers = {node: number for number, node in enumerate(walk([root]))}
        self.nodes = [self.view(node, number) for node, number in self.numbers.items()]
        for node, number in self.numbers.items():
            if isinstance(node, AccumulateGrad):
                self.grads[number, 0] = value_of(node.variable.grad)

    def view(self, node: Node, number: int) -> NodeView:
        """Describe one node."""
        edges = tuple(EdgeView(None if target is None else self.numbers[target], index)
                      for target, index in node.next_functions)
        shapes = tuple(tuple(node.metadata_of(i)[0]) for i in range(node.num_inputs))
        saved = tuple(name for name, kept in node_saves(node).items() if kept is not None)
        if isinstance(node, GraphRoot):
            return NodeView(number, node.name(), "root", None, "", shapes, edges, saved)
        if isinstance(node, AccumulateGrad):
            called = self.names.leaf(node.variable)
            return NodeView(number, node.name(), "leaf", None, called, shapes, edges, saved)
        called = ", ".join(self.names.of_outputs(node))
        return NodeView(number, node.name(), "op", node._sequence_nr(), called, shapes, edges,
                        saved)

    def of(self, node: Node) -> NodeView:
        """Return the description of a node."""
        return self.nodes[self.numbers[node]]


class Recording(GraphTask):
    """A backward pass that records its steps."""

    diary: Diary
    source: Node

    def count_dependencies(self, root: Node) -> None:
        super().count_dependencies(root)
        diary = self.diary
        diary.describe(root)
        diary.waiting = {diary.numbers[n]: count for n, count in self.dependencies.items()}
        self.push(root)
        diary.add("count", sentences.counted(len(diary.nodes)), self)
        self.ready.clear()  # `run` pushes it again

    def push(self, node: Node) -> None:
        """Make a node ready; leaves have equal sequence numbers, so the nearest one is first."""
        heappush(self.ready, (-node.sequence, self.diary.numbers[node], node))

    def evaluate(self, node: Node, buffer: InputBuffer) -> None:
        diary = self.diary
        view = diary.of(node)
        diary.node, diary.results = view.number, ()
        diary.given = tuple(map(value_of, buffer.grads))
        diary.buffers.pop(view.number, None)
        rest = [diary.nodes[diary.numbers[n]] for _, _, n in sorted(self.ready)]
        diary.add("pop", sentences.popped(view, rest, diary.given), self)
        super().evaluate(node, buffer)
        diary.done += (view.number,)

    def run_tensor_hooks(self, node: Node, buffer: InputBuffer) -> None:
        diary, extras = self.diary, node.extras
        super().run_tensor_hooks(node, buffer)
        assert extras is not None
        before, diary.given = diary.given, tuple(map(value_of, buffer.grads))
        count = sum(map(len, extras.tensor.values()))
        kept = []
        for index, reference in extras.retained.items():
            tensor = reference()
            if tensor is not None:
                diary.grads[diary.numbers[node], index] = value_of(tensor.grad)
                kept.append(diary.names.result(tensor))
        if count or kept:
            text = sentences.hooked(diary.of(node), count, before, diary.given, kept)
            diary.add("hook", text, self)

    def route_gradients(self, node: Node, received: Any, results: Any) -> None:
        """Record a node's results, then where each of them goes."""
        diary, extras = self.diary, node.extras
        hooks = 0 if extras is None else len(extras.pre) + len(extras.post)
        diary.given, diary.results = tuple(map(value_of, received)), tuple(map(value_of, results))
        view = diary.of(node)
        text = sentences.applied(view, diary.results, hooks, freed=not self.retain_graph)
        diary.add("apply", text, self)
        self.source = node
        self.places = iter([i for i, (target, _) in enumerate(node.edges) if target is not None])
        super().route_gradients(node, received, results)

    def add_to_buffer(self, target: Node, index: int, gradient: Gradient | None) -> None:
        """Record how a gradient arrives."""
        diary, place = self.diary, next(self.places)
        view, raw = diary.of(target), diary.results[place]
        value = None if gradient is None else value_of(gradient.value)
        before = diary.buffers.get(view.number, (None,) * target.num_inputs)[index]
        super().add_to_buffer(target, index, gradient)
        left = diary.waiting[view.number] = self.dependencies[target]
        buffer = self.buffers[target]
        diary.buffers[view.number] = tuple(map(value_of, buffer.grads))
        text = sentences.arrived(diary.of(self.source), place, view, index, raw, value, before,
                                 diary.buffers[view.number][index], left)
        diary.add("arrive", text, self, edge=place, value=value)

    def accumulate(self, node: AccumulateGrad, buffer: InputBuffer) -> None:
        diary, view = self.diary, self.diary.of(node)
        before = value_of(node.variable.grad)
        super().accumulate(node, buffer)
        after = diary.grads[view.number, 0] = value_of(node.variable.grad)
        arrived = value_of(buffer.grads[0])
        diary.add("write", sentences.wrote(view, arrived, before, after), self, value=after)


def record(
    tensors: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    names: Names,
    *,
    retain_graph: bool,
    limit: int,
) -> tuple[Diary, BaseException | None]:
    """Run backward from `tensors` and return the record, and the error if it failed.

    Raises the errors that `backward` raises before anything runs, and `ValueError` for a graph with
    more than `limit` nodes.
    """
    edges = root_edges(tensors)
    grads = root_gradients(tensors, gradients, create_graph=False)
    if len(list(islice(walk(root_nodes(tensors)), limit + 1))) > limit:
        raise ValueError(
            f"this graph has more than {limit} nodes, too many to step through; limit= allows "
            "more, and viz.graph shows the part of a large graph that is nearest to the result")
    diary = Diary(names)
    tasks: list[Recording] = []

    def recording(*options: Any) -> Recording:
        task = Recording(*options)
        task.diary = diary
        tasks.append(task)
        return task

    _state.observers.enter()  # the engine's general path is the one that `Recording` overrides
    try:
        execute(edges, grads, retain_graph, False, task_class=recording)  # type: ignore[arg-type]  # a function that makes one will do
    except BaseException as error:
        if tasks and diary.nodes:
            diary.add("error", sentences.failed(current(diary), error), tasks[0])
        return diary, error
    finally:
        _state.observers.leave()
    diary.node, diary.given, diary.results = None, (), ()
    diary.add("end", sentences.ended(len(diary.done), retain_graph), tasks[0])
    return diary, None


def current(diary: Diary) -> NodeView | None:
    """Return the node that is running."""
    return None if diary.node is None else diary.nodes[diary.node]
