# Stage 02, The graph: nodes, edges and leaves: the solution for minigrad/graph/node.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""The graph that a backward pass walks: nodes joined by edges, leaves at its ends.

NOTE [How a graph stays free of reference cycles]
    A node holds the nodes that come after it in the backward pass, the tensors that its
    formulas need, and never its own output: an output that a formula needs is kept as array
    and version counter and rebuilt when asked for.  A leaf holds its `AccumulateGrad` only
    weakly, which holds the leaf.  So dropping the loss frees the whole graph by reference
    counting alone, with the garbage collector switched off.

NOTE [Inputs of a node]
    A node's inputs are the gradients of its forward's outputs, so `num_inputs`, the `index` of an
    edge and `metadata_of(index)` count outputs of the forward.  Its results, one for each edge,
    are the gradients of the forward's inputs.
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
    """Give a new node the next sequence number of its thread, and show it to the observers."""
    counter = read_sequence()
    node.sequence = next_sequence() if counter is None else counter()
    for tell in observers.on_node:
        tell(node)


#: Texts of the errors of a node that is called by hand; `.format` fills in the numbers.
WRONG_COUNT = "expected {} arguments, got {} instead"
NOT_A_TENSOR = "argument {} is not a Variable"
#: And of a node that is given edges in a wrong number.
WRONG_EDGES = "{} has {} edges, but got {}"


class Edge(NamedTuple):
    """The way of a gradient: `node` takes it as number `index`; `(None, 0)` leads nowhere."""

    node: Node | None
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here


class InputMetadata(NamedTuple):
    """Shape, dtype and device of the gradient that a node expects for one output."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any


class Node:
    """One function of the backward pass: takes the gradients of a forward's outputs, gives
    those of its inputs.

    `shape` and `dtype` are those of output 0 of the forward.

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

    The engine runs a node on arrays, or on tensors to record a graph, and then releases it.

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

    #: How many gradients the node receives; nodes with several have a slot of this name.
    num_inputs = 1
    #: How many edges the node keeps in slots; -1 if it keeps any number in a tuple.
    arity = -1
    saves: tuple[str, ...] = ()
    #: Whether the node is an op's: its formulas have no side effects.
    is_op = False
    #: Whether `codegen/` writes the node's step of a backward pass: one output, formulas of `g`.
    is_written = False
    #: Whether somebody else may hold what the node returns; an op's formulas make new arrays.
    borrows_results = True
    #: Whether the node's hooks are shown results that nobody asked for, too.
    shows_all_results = True
    #: Whether the node's formulas may be given batches of gradients.
    takes_batches = False
    device: Any = CPU
    shape: tuple[int, ...]
    dtype: Any
    extras: Extras | None
    sequence: int

    #: The edges along which the node's results leave, one per differentiable input.
    edges: Sequence[tuple[Node | None, int]] = ()

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        """Fix where the results go."""
        raise NotImplementedError

    def metadata_of(self, index: int) -> tuple[tuple[int, ...], Any]:
        """Return shape and array dtype of output `index` of the forward."""
        return self.shape, self.dtype

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        """Turn gradient arrays into gradient arrays, one per edge; records no graph.

        Results for edges whose node is not in `needed` (when that is not None) may be None.
        """
        raise NotImplementedError

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        """Turn gradient tensors into gradient tensors, recording a graph if grad mode is on."""
        raise NotImplementedError

    def apply_needed_tensors(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        """Do what `apply_tensors` does; results for nodes not in `needed` may be None."""
        return self.apply_tensors(grads)

    def release(self) -> None:
        """Drop what was saved for the formulas; using it again raises."""

    def __call__(self, *grads: Any) -> Any:
        """Apply the node to gradients: one result comes bare, several as a tuple."""
        if len(grads) != self.num_inputs:
            raise TypeError(WRONG_COUNT.format(self.num_inputs, len(grads)))
        for position, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "_array"):
                raise TypeError(NOT_A_TENSOR.format(position))
        results = tuple(self.apply_tensors(grads))
        return results[0] if len(results) == 1 else results

    def name(self) -> str:
        """Return the name under which the node is printed."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The edges as `((node, index), ...)`; `(None, 0)` for inputs that need no gradient."""
        return tuple((node, index) for node, index in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary to keep notes in; anomaly mode keeps the forward's traceback here."""
        return self._extras().metadata

    @property
    def _input_metadata(self) -> list[InputMetadata]:
        return [
            InputMetadata(shape, FROM_NUMPY.get(dtype, dtype), self.device)
            for shape, dtype in map(self.metadata_of, range(self.num_inputs))
        ]

    def _sequence_nr(self) -> int:
        """Return the node's number in the order in which its thread made nodes, from 0."""
        return self.sequence

    def _extras(self) -> Extras:
        if self.extras is None:
            fresh = Extras()  # made first: threads that share the node have to get the same one
            if self.extras is None:
                self.extras = fresh
        return self.extras

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node; a result replaces the inputs'."""
        return register(self._extras().post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs; a result replaces grad_outputs."""
        return register(self._extras().pre, fn)


class UnaryNode(Node):
    """A node with one edge, kept in two slots: a tuple of pairs would take 120 bytes more."""

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
        self.edges = tuple(map(Edge._make, edges))

    def metadata_of(self, index: int) -> tuple[tuple[int, ...], Any]:
        return (self.shape, self.dtype) if index == 0 else self.others[index - 1]


class GraphRoot(NaryNode):
    """The start of a backward pass: hands the roots' gradients to the roots."""

    __slots__ = ("outputs",)

    def __init__(self, edges: Sequence[tuple[Node | None, int]], outputs: Sequence[Any]) -> None:
        super().__init__(edges)
        self.shape, self.dtype, self.num_inputs = (), None, 0
        self.sequence, self.outputs = 1 << 62, outputs  # nothing comes before it

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        return self.outputs

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        return self.outputs


def through_tensors(
    node: Node, plain: Callable[[Array], Any], grads: Sequence[Array | None]
) -> Sequence[Array | None]:
    """Apply a node that works on tensors alone to arrays; `plain` makes a tensor of an array."""
    wrapped = [None if g is None else plain(g) for g in grads]
    return [None if r is None else r._array for r in node.apply_tensors(wrapped)]


def gradient_edges(tensors: Iterable[Any]) -> list[tuple[Node | None, int]]:
    """Return the edge of each tensor; numbers and None have none."""
    return [getattr(t, "_edge", _no_edge)() for t in tensors]


def _no_edge() -> tuple[None, int]:
    return (None, 0)
