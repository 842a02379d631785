"""The node of a Function as its user sees it: a place for attributes of any name.

NOTE [Names that both want]
    The context of a Function is its node, and of a node the engine asks `shape`, `dtype` and more;
    but `ctx.shape = x.shape` is what users write.  What `forward` left under such a name is put
    aside when it has returned, so that the engine finds its own there, and `backward` and `jvp`
    get a `Context`, which shows it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._state import number
from ...graph.hooks import Extras
from ...graph.node import NaryNode, Node


class Unset(tuple[()]):
    """What stands where nobody has set anything yet; looked at as a shape, that of a number."""

    __slots__ = ()


UNSET: Any = Unset()

#: Slots that the engine fills when `forward` has returned, and all that it asks of a node.
FILLED_LATER = ("shape", "dtype", "num_inputs", "others")
OF_ENGINE = frozenset({
    *FILLED_LATER, "apply", "apply_arrays", "apply_needed_tensors", "apply_tensors", "arity",
    "borrows_results", "context", "device", "edge_list", "edges", "extras", "function", "is_op",
    "metadata_of", "name", "next_nodes", "op", "put_aside", "release", "saves", "sequence",
    "set_edges", "shows_all_results", "takes_batches", "tensor_vjp_fns", "vjp_fns"})


class ContextNode(NaryNode):
    """A node that keeps apart what it has for the engine and what `forward` leaves on it."""

    def __init__(self) -> None:
        super().__init__()
        self.shape = self.dtype = self.num_inputs = self.others = UNSET
        self._order: tuple[int, Any] = (-1, ())  # its number, and its edges
        self._aside: dict[str, Any] | None = None

    @property
    def edges(self) -> Sequence[tuple[Node | None, int]]:
        return self.edge_list

    @edges.setter
    def edges(self, value: Any) -> None:
        self._aside = {**(self._aside or {}), "edges": value}

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        super().set_edges(edges)
        self._order = self.sequence, self.edge_list

    def put_aside(self) -> None:
        """Take the engine's names back; see NOTE [Names that both want]."""
        sequence, edges = self._order
        if (self.shape is UNSET and self.dtype is UNSET and self.num_inputs is UNSET
                and self.others is UNSET and self.extras is None and self.edge_list is edges
                and self.sequence is sequence and OF_ENGINE.isdisjoint(self.__dict__)):
            return  # as almost always
        theirs = {name: value for name in FILLED_LATER
                  if (value := getattr(self, name)) is not UNSET}
        for name in OF_ENGINE & self.__dict__.keys():
            theirs[name] = self.__dict__.pop(name)
        if self.edge_list is not edges:
            theirs["edge_list"], self.edge_list = self.edge_list, edges
        if self.sequence is not sequence:
            theirs["sequence"] = self.sequence
            number(self)
        if not (self.extras is None or type(self.extras) is Extras):
            theirs["extras"], self.extras = self.extras, None
        if theirs:
            self._aside = {**(self._aside or {}), **theirs}

    def context(self) -> Any:
        """Return what `backward` and `jvp` get: the node, or what shows what was put aside."""
        return self if self._aside is None else Context(self, self._aside)


class Context:
    """A node with what was put aside in front of it; see NOTE [Names that both want]."""

    _of: ContextNode
    _aside: dict[str, Any]

    def __init__(self, node: ContextNode, aside: dict[str, Any]) -> None:
        object.__setattr__(self, "_of", node)
        object.__setattr__(self, "_aside", aside)

    def __getattr__(self, name: str) -> Any:
        return self._aside[name] if name in self._aside else getattr(self._of, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OF_ENGINE:
            self._aside[name] = value
        else:
            setattr(self._of, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._aside:
            del self._aside[name]
        else:
            delattr(self._of, name)
