# Stage 02, The graph: nodes, edges and leaves: the exercise for minigrad/graph/node.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 02
# docs/en/glossary.md explains the names used inside the package.

"""The graph that a backward pass walks: nodes joined by edges, leaves at its ends.

NOTE [How a graph stays free of reference cycles]
    A node refers to the nodes that run after it in the backward pass and to the tensors that its
    formulas need, but never to its own output: if a formula needs the output, the node saves its
    array and version counter and rebuilds the tensor on demand.  A leaf refers to its
    `AccumulateGrad` weakly, because the `AccumulateGrad` refers to the leaf.  Dropping the loss
    therefore frees the whole graph by reference counting alone, even with the garbage collector
    switched off.

NOTE [Inputs of a node]
    A node's inputs are the gradients of the forward's outputs, so `num_inputs`, the `index` of an
    edge and `metadata_of(index)` count the forward's outputs.  A node's results are the gradients
    of the forward's inputs, one for each edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any, NamedTuple

from .._state import observers
from ..device import CPU
from ..dtypes import FROM_NUMPY
from .hooks import Extras, RemovableHandle, register

Array = Any

_sequence: ContextVar[Callable[[], int] | None] = ContextVar("sequence", default=None)
read_sequence = _sequence.get


def next_sequence() -> int:
    """Return the next sequence number of this thread; the first one is 0.

    >>> next_sequence() < next_sequence()
    True
    """
    counter = read_sequence()
    if counter is None:
        counter = count().__next__
        _sequence.set(counter)
    return counter()


def assign_sequence_nr(node: Node) -> None:
    """Give a new node the next sequence number of its thread, and notify the observers."""
    counter = read_sequence()
    node.sequence = next_sequence() if counter is None else counter()
    for tell in observers.on_node:
        tell(node)


#: Error messages for a node that a user calls directly; `.format` fills in the numbers.
WRONG_COUNT = "expected {} arguments, got {} instead"
NOT_A_TENSOR = "argument {} is not a Variable"
#: Error message for a node that gets the wrong number of edges.
WRONG_EDGES = "{} has {} edges, but got {}"


class Edge(NamedTuple):
    """The destination of a gradient: input `index` of `node`, or `(None, 0)` for nowhere."""

    node: Node | None
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not needed here


class InputMetadata(NamedTuple):
    """The shape, dtype and device of the gradient that a node expects for one output."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any


class Node:
    """A function of the backward pass: it turns gradients of an operation's outputs into
    gradients of its inputs.

    `shape` and `dtype` describe the operation's first output.

    >>> import numpy
    >>> from minigrad import tensor
    >>> x = tensor([2.0, 3.0], requires_grad=True)
    >>> y = (x * x).sum(); node = y.grad_fn; node.name()
    'SumBackward0'
    >>> [(before.name(), index) for before, index in node.next_functions]
    [('MulBackward0', 0)]
    >>> handle = node.register_prehook(lambda grads: print("takes", *grads))
    >>> handle = node.register_hook(lambda results, grads: print("gives", *results))
    >>> node.metadata["note"] = "the loss"
    >>> y.backward(); node.metadata
    takes tensor(1.)
    gives tensor([1., 1.])
    {'note': 'the loss'}

    The engine runs a node on arrays, or on tensors if it records a graph, and then releases it.

    >>> node = (x * 3).grad_fn; node.metadata_of(0)
    ((2,), dtype('float32'))
    >>> node.apply_arrays([numpy.ones(2, "float32")], None)
    [array([3., 3.], dtype=float32), None]
    >>> node.apply_tensors([tensor([1.0, 1.0])])
    [tensor([3., 3.]), None]
    >>> node.apply_needed_tensors([tensor([1.0, 1.0])], set())
    [None, None]
    >>> node.release(); node.set_edges([(None, 0), (None, 0)]); node.next_functions
    ((None, 0), (None, 0))
    """

    __slots__ = ("__weakref__", "dtype", "extras", "sequence", "shape")

    #: The number of gradients that the node receives; nodes with several have a slot for it.
    num_inputs = 1
    #: The number of edges that the node keeps in slots; -1 if it keeps them in a tuple.
    arity = -1
    saves: tuple[str, ...] = ()
    #: Whether the node belongs to an op, so that its formulas have no side effects.
    is_op = False
    #: Whether `codegen/` generates the node's step: it has one output and formulas of `g`.
    is_written = False
    #: Whether other code may refer to the node's results; an op's formulas return new arrays.
    borrows_results = True
    #: Whether the node's hooks also see results that the pass does not need.
    shows_all_results = True
    #: Whether the node's formulas accept batches of gradients.
    takes_batches = False
    device: Any = CPU
    shape: tuple[int, ...]
    dtype: Any
    extras: Extras | None
    sequence: int

    #: The edges that the node's results follow, one per differentiable input.
    edges: Sequence[tuple[Node | None, int]] = ()

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        """Set the edges, which say where the results go."""
        raise NotImplementedError

    def metadata_of(self, index: int) -> tuple[tuple[int, ...], Any]:
        """Return the shape and the array dtype of output `index` of the forward."""
        return self.shape, self.dtype

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        """Turn gradient arrays into gradient arrays, one per edge, without recording a graph.

        Unless `needed` is `None`, results for edges to nodes outside of it may be `None`.
        """
        raise NotImplementedError

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        """Turn gradient tensors into gradient tensors, recording a graph if grad mode is on."""
        raise NotImplementedError

    def apply_needed_tensors(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        """Do the same as `apply_tensors`; results for nodes not in `needed` may be `None`."""
        return self.apply_tensors(grads)

    def release(self) -> None:
        """Free the values saved for the formulas; unpacking one afterwards raises."""

    def __call__(self, *grads: Any) -> Any:
        """Apply the node to gradients; return one result as it is, several as a tuple."""
        # 02.4 Calling a node by hand (about 7 lines)
        # Apply this node to gradient tensors, one for each output of its forward. It returns
        # one result for each edge, and the results can be differentiated again.
        #   a is 2., b is 5.      (a * b).grad_fn(torch.tensor(3.0))  -> (15., 6.), a tuple
        #                         (a**2).grad_fn(torch.tensor(3.0))   -> 12., not in a tuple
        #   a node without edges  node(torch.tensor(3.0))             -> ()
        # Mind:
        # - Unless there are `num_inputs` gradients, raise TypeError with `WRONG_COUNT`.
        # - Unless each of them is a tensor or None, raise TypeError with `NOT_A_TENSOR` and
        #   its position, from 0.
        # Use: `apply_tensors`; the messages with `.format`; `hasattr(grad, "_array")` is true
        # for a tensor.
        raise NotImplementedError("02.4 Calling a node by hand is yours to write")

    def name(self) -> str:
        """Return the name under which the node is printed."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The edges as `((node, index), ...)`; `(None, 0)` for inputs that need no gradient."""
        # 02.1 Edges (about 3 lines)
        # A node records where its results go, with one edge for each input of the forward.
        # `set_edges` stores the edges, `next_functions` shows them to users, and
        # `metadata_of` describes output `index` of the forward.
        #   node.set_edges([(a, 1), (None, 0)])
        #   node.edges[0].node, node.edges[0].index    -> a, 1
        #   node.next_functions                        -> ((a, 1), (None, 0))
        #   node.metadata_of(0)                        -> (node.shape, node.dtype)
        #   node.metadata_of(1)                        -> node.others[0]
        # Mind:
        # - New edges replace the old ones.
        # - An edge without a node, (None, 0), keeps its place.
        # - If the caller changes the list later, the node must not change.
        # Use: `Edge`, a named tuple, as in `NaryNode.__init__`.
        raise NotImplementedError("02.1 Edges is yours to write")

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for notes; anomaly mode stores the traceback of the forward in it."""
        return self._extras().metadata

    @property
    def _input_metadata(self) -> list[InputMetadata]:
        return [
            InputMetadata(shape, FROM_NUMPY.get(dtype, dtype), self.device)
            for shape, dtype in map(self.metadata_of, range(self.num_inputs))
        ]

    def _sequence_nr(self) -> int:
        """Return the node's position, from 0, in the order in which its thread made nodes."""
        return self.sequence

    def _extras(self) -> Extras:
        if self.extras is None:
            fresh = Extras()  # created before the check, because threads may share the node
            if self.extras is None:
                self.extras = fresh
        return self.extras

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node; a result replaces grad_inputs."""
        return register(self._extras().post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs; a result replaces grad_outputs."""
        return register(self._extras().pre, fn)


class UnaryNode(Node):
    """A node with one edge, kept in two slots because a tuple would take 120 bytes more."""

    __slots__ = ("index0", "next0")
    arity = 1

    def __init__(self, edges: Sequence[tuple[Node | None, int]] = ((None, 0),)) -> None:
        self.extras = None
        self.set_edges(edges)

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:  # type: ignore[override]  # computed
        return (Edge(self.next0, self.index0),)

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        if len(edges) != 1:
            raise ValueError(WRONG_EDGES.format(self.name(), 1, len(edges)))
        ((self.next0, self.index0),) = edges


class BinaryNode(Node):
    """A node with two edges, kept in four slots."""

    __slots__ = ("index0", "index1", "next0", "next1")
    arity = 2

    def __init__(self, edges: Sequence[tuple[Node | None, int]] = ((None, 0), (None, 0))) -> None:
        self.extras = None
        self.set_edges(edges)

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:  # type: ignore[override]  # computed
        return (Edge(self.next0, self.index0), Edge(self.next1, self.index1))

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        if len(edges) != 2:
            raise ValueError(WRONG_EDGES.format(self.name(), 2, len(edges)))
        (self.next0, self.index0), (self.next1, self.index1) = edges


class NaryNode(Node):
    """A node with any number of edges and of outputs."""

    __slots__ = ("edges", "num_inputs", "others")

    def __init__(self, edges: Sequence[tuple[Node | None, int]] = ()) -> None:
        self.num_inputs = 1
        self.others: list[tuple[tuple[int, ...], Any]] = []  # metadata of outputs 1, 2, ...
        self.extras = None
        self.edges: Sequence[tuple[Node | None, int]] = tuple(map(Edge._make, edges))

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        # 02.1 Edges: see the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")

    def metadata_of(self, index: int) -> tuple[tuple[int, ...], Any]:
        # 02.1 Edges: see the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")


class GraphRoot(NaryNode):
    """The node at which a backward pass starts: it passes the initial gradients to the roots."""

    __slots__ = ("outputs",)

    def __init__(self, edges: Sequence[tuple[Node | None, int]], outputs: Sequence[Any]) -> None:
        super().__init__(edges)
        self.shape, self.dtype, self.num_inputs = (), None, 0
        self.sequence, self.outputs = 1 << 62, outputs  # it runs before every other node

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        return self.outputs

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        return self.outputs


def through_tensors(
    node: Node, plain: Callable[[Array], Any], grads: Sequence[Array | None]
) -> Sequence[Array | None]:
    """Apply a node that only works on tensors to arrays; `plain` turns an array into a tensor."""
    wrapped = [None if g is None else plain(g) for g in grads]
    return [None if r is None else r._array for r in node.apply_tensors(wrapped)]


def gradient_edges(tensors: Iterable[Any]) -> list[tuple[Node | None, int]]:
    """Return the edge of each tensor, and `(None, 0)` for numbers and `None`."""
    return [getattr(t, "_edge", _no_edge)() for t in tensors]


def _no_edge() -> tuple[None, int]:
    return (None, 0)
