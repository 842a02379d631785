"""Nodes of ops with one or two edges, which keep them in slots.

Replaces `NaryNode` of graph/node.py, which keeps its edges in a tuple.  Most nodes have one or two
edges; a tuple of pairs takes 120 to 180 bytes for each node, and making it 0.2 us.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..graph.node import Edge, NaryNode, Node
from ..op.declaration import Op

Function = Callable[..., Any]


class UnaryNode(Node):
    """A node with one edge."""

    __slots__ = ("index0", "next0")
    arity = 1
    next0: Node | None
    index0: int

    def __init__(self, edges: Sequence[tuple[Node | None, int]] = ((None, 0),)) -> None:
        self.extras = None
        self.set_edges(edges)

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:  # type: ignore[override]  # computed
        return (Edge(self.next0, self.index0),)

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        ((self.next0, self.index0),) = edges


class BinaryNode(Node):
    """A node with two edges."""

    __slots__ = ("index0", "index1", "next0", "next1")
    arity = 2
    next0: Node | None
    next1: Node | None
    index0: int
    index1: int

    def __init__(self, edges: Sequence[tuple[Node | None, int]] = ((None, 0), (None, 0))) -> None:
        self.extras = None
        self.set_edges(edges)

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:  # type: ignore[override]  # computed
        return (Edge(self.next0, self.index0), Edge(self.next1, self.index1))

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        (self.next0, self.index0), (self.next1, self.index1) = edges


def flat_base(op: type[Op]) -> type[Node]:
    """Return the class that keeps the edges of an op's nodes."""
    if op.outputs or op.list_of_tensors is not None or op.many:
        return NaryNode
    return {1: UnaryNode, 2: BinaryNode}.get(len(op.formulas), NaryNode)


def edges_of(node: Any) -> Sequence[tuple[Any, int]]:
    """Return a node's edges as plain pairs."""
    if node.arity == 1:
        return ((node.next0, node.index0),)
    if node.arity == 2:
        return ((node.next0, node.index0), (node.next1, node.index1))
    edges: Sequence[tuple[Any, int]] = node.edges
    return edges


def give_defaults() -> None:
    """Give every node the attributes that this folder reads."""
    defaults: Any = Node
    defaults.arity = -1  # how many edges the node's class has slots for; -1 for any number
    defaults.vjp_fns = ()  # the formulas as functions of node and gradient array
    defaults.tensor_vjp_fns = ()  # the same for gradients that are tensors
