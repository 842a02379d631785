# Stage 02, The graph: nodes, edges and leaves: the exercise for minigrad/graph/node.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# Write the bodies that raise NotImplementedError, then run: minigrad run 02

"""The graph that a backward pass walks: nodes joined by edges, leaves at its ends.

NOTE [How a graph stays free of reference cycles]
    A node holds the nodes that come after it in the backward pass, the tensors that its
    formulas need, and never its own output: an output that a formula needs is kept as array
    and version counter and rebuilt when asked for.  A leaf holds its `AccumulateGrad` only
    weakly, which holds the leaf.  So dropping the loss frees the whole graph by reference
    counting alone, with the garbage collector switched off.

NOTE [Flat edges]
    Most nodes have one or two edges, and a container for them would cost more memory than the
    edges themselves.  `UnaryNode` and `BinaryNode` keep them in slots; `edges` makes the
    pairs when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..device import CPU
from ..dtypes import FROM_NUMPY
from .hooks import Extras, RemovableHandle, register

Array = Any


class Edge(NamedTuple):
    """Where a gradient goes: input number `index` of `node`; `(None, 0)` leads nowhere."""

    node: Node | None
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here


class InputMetadata(NamedTuple):
    """What a node knows of one output of its forward: the gradient that it receives looks so."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any


class Node:
    """One function of the backward pass: takes the gradients of a forward's outputs, gives
    those of its inputs.

    `shape` and `dtype` are those of output 0 of the forward.
    """

    __slots__ = ("__weakref__", "dtype", "extras", "sequence", "shape")

    #: How many gradients the node receives; nodes with several have a slot of this name.
    num_inputs = 1
    #: How many edges the node's class has slots for; -1 for any number.
    arity = -1
    #: The formulas as functions of node and gradient array, where the op is specialised.
    vjp_fns: tuple[Callable[..., Any], ...] = ()
    #: The same for gradients that are tensors.
    tensor_vjp_fns: tuple[Callable[..., Any], ...] = ()
    saves: tuple[str, ...] = ()
    #: Whether the node is an op's: its formulas have no side effects.
    is_op = False
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

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:
        """The edges along which the node's results leave, one per differentiable input."""
        return ()

    def next_nodes(self) -> Sequence[Node | None]:
        """Return the node at the end of each edge, None among them."""
        return ()

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
        # 02.4 A node called by hand. Calling a node with gradient tensors applies it. It
        # takes as many gradients as it has `num_inputs`; otherwise raise TypeError with the
        # text "expected {num_inputs} arguments, got {number given} instead". Each is a tensor
        # or None; for anything else raise TypeError with "argument {position, from 0} is not
        # a Variable" (a tensor is what has an attribute `_array`). Then
        # `self.apply_tensors(grads)` gives one result for each edge, with a history where
        # grad mode is on. Return a single result bare, and several (or none) as a tuple.
        raise NotImplementedError("02.4 A node called by hand is yours to write")

    def name(self) -> str:
        """Return the name under which the node is printed."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The edges as `((node, index), ...)`; `(None, 0)` for inputs that need no gradient."""
        # 02.1 Edges. Three kinds of nodes keep their edges in different places. UnaryNode has
        # one edge, in the slots `next0` (the node it leads to, or None) and `index0` (a
        # number). BinaryNode has two, in `next0`, `index0` and `next1`, `index1`. NaryNode
        # has any number, in `edge_list`. `set_edges(edges)` takes a list or tuple of `(node,
        # index)` pairs, of just the length that the kind holds, and keeps them, replacing
        # whatever was there; a list that the caller changes afterwards must not change the
        # node. `edges` gives them back in the same order, each as an `Edge`. An edge that
        # leads nowhere is `(None, 0)` and keeps its place. `Node.next_functions` gives
        # `self.edges` as a tuple of `(node, index)` pairs. `NaryNode.metadata_of(index)`
        # returns a pair (shape, dtype) for output number `index` of the forward: `self.shape,
        # self.dtype` for output 0, and what the list `self.others` holds for outputs 1, 2,
        # ...
        raise NotImplementedError("02.1 Edges is yours to write")

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
    """A node with one edge."""

    __slots__ = ("index0", "next0")
    arity = 1

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:
        # 02.1 Edges. See the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")

    def next_nodes(self) -> Sequence[Node | None]:
        return (self.next0,)

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        # 02.1 Edges. See the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")


class BinaryNode(Node):
    """A node with two edges."""

    __slots__ = ("index0", "index1", "next0", "next1")
    arity = 2

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:
        # 02.1 Edges. See the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")

    def next_nodes(self) -> Sequence[Node | None]:
        return (self.next0, self.next1)

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        # 02.1 Edges. See the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")


class NaryNode(Node):
    """A node with any number of edges and of outputs."""

    __slots__ = ("edge_list", "num_inputs", "others")
    arity = -1

    def __init__(self) -> None:
        self.num_inputs = 1
        self.others: list[tuple[tuple[int, ...], Any]] = []  # metadata of outputs 1, 2, ...
        self.edge_list: Sequence[tuple[Node | None, int]] = ()

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:
        # 02.1 Edges. See the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")

    def next_nodes(self) -> Sequence[Node | None]:
        return [node for node, _ in self.edge_list]

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        # 02.1 Edges. See the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")

    def metadata_of(self, index: int) -> tuple[tuple[int, ...], Any]:
        # 02.1 Edges. See the task at `Node.next_functions`.
        raise NotImplementedError("02.1 Edges is yours to write")


class GraphRoot(NaryNode):
    """Where a backward pass starts: hands the roots' gradients to the roots."""

    __slots__ = ("outputs",)

    def __init__(self, edges: Sequence[tuple[Node | None, int]], outputs: Sequence[Any]) -> None:
        super().__init__()
        self.shape, self.dtype, self.extras, self.num_inputs = (), None, None, 0
        self.sequence = 1 << 62  # nothing comes before it
        self.outputs = outputs
        self.set_edges(edges)

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        return self.outputs

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        return self.outputs


def through_tensors(
    node: Node, plain: Callable[[Array], Any], grads: Sequence[Array | None]
) -> Sequence[Array | None]:
    """Apply a node that has only the tensor realisation to arrays; `plain` makes a tensor."""
    wrapped = [None if g is None else plain(g) for g in grads]
    return [None if r is None else r._array for r in node.apply_tensors(wrapped)]


def gradient_edges(tensors: Iterable[Any]) -> list[tuple[Node | None, int]]:
    """Return the edge of each tensor; numbers and None have none."""
    return [getattr(t, "_edge", _no_edge)() for t in tensors]


def _no_edge() -> tuple[None, int]:
    return (None, 0)
