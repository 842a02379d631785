"""The node of a Function as the user's context that accepts attributes of any name.

NOTE [Names that both want]
    The context of a Function is its node, and the engine reads a node's `shape`, `dtype` and more,
    but users write `ctx.shape = x.shape`.  Therefore, after `forward`, the node sets aside the
    user's values under such names, so that the engine finds its own; `backward` and `jvp` get a
    `Context`, which shows the user's values again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph.hooks import Extras
from ...graph.node import NaryNode, Node, assign_sequence_nr


class Unset(tuple[()]):
    """Placeholder for an output that was not set; its shape is `()`."""

    __slots__ = ()


UNSET: Any = Unset()

#: Slots that the engine fills after `forward`.
FILLED_LATER = ("shape", "dtype", "num_inputs", "others")
#: Public attributes of PyTorch's nodes: if a user sets one of these, everyone sees the value.
PUBLIC = frozenset({"metadata", "next_functions", "register_hook", "register_prehook"})
#: Every other name that the engine reads from a node.
OF_ENGINE = frozenset({name for name in dir(NaryNode) if not name.startswith("_")} - PUBLIC
                      | {"apply", "context", "function", "op", "put_aside"})


class ContextNode(NaryNode):
    """A node that separates the engine's attributes from the ones that `forward` sets."""

    def __init__(self) -> None:
        super().__init__()
        self.shape = self.dtype = self.num_inputs = self.others = UNSET
        self._order: tuple[int, Any] = (-1, ())  # sequence number and edges
        self._aside: dict[str, Any] | None = None

    def set_edges(self, edges: Sequence[tuple[Node | None, int]]) -> None:
        super().set_edges(edges)
        self._order = self.sequence, self.edges

    def put_aside(self) -> None:
        """Restore the engine's names; see NOTE [Names that both want]."""
        sequence, edges = self._order
        if (self.shape is UNSET and self.dtype is UNSET and self.num_inputs is UNSET
                and self.others is UNSET and self.extras is None and self.edges is edges
                and self.sequence is sequence and OF_ENGINE.isdisjoint(self.__dict__)):
            return  # the usual case
        theirs = {name: value for name in FILLED_LATER
                  if (value := getattr(self, name)) is not UNSET}
        for name in OF_ENGINE & self.__dict__.keys():
            theirs[name] = self.__dict__.pop(name)
        if self.edges is not edges:
            theirs["edges"], self.edges = self.edges, edges
        if self.sequence is not sequence:
            theirs["sequence"] = self.sequence
            assign_sequence_nr(self)
        if not (self.extras is None or type(self.extras) is Extras):
            theirs["extras"], self.extras = self.extras, None
        if theirs:
            self._aside = {**(self._aside or {}), **theirs}

    def context(self) -> Any:
        """Return the context for `backward` and `jvp`: the node, or a `Context` that wraps it."""
        return self if self._aside is None else Context(self, self._aside)


class Context:
    """A view of a node that shows the user's values first; see NOTE [Names that both want]."""

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
