# Stage 05, Hooks: the solution for minigrad/graph/hooks.py.
# Made by `minigrad dev build`. The lesson is lessons/05_hooks.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Hooks: the tables that store them, and the handles that remove them.

A table is an ordered dictionary from numbers to functions.  Tensors, nodes, modules and optimizers
all store their hooks in such tables, so hooks run in the order in which they were registered.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import count
from typing import Any

Table = OrderedDict[int, Any]


class RemovableHandle:
    """A handle that removes a hook, by `remove()` or at the end of a `with` block.

    >>> from collections import OrderedDict
    >>> hooks = OrderedDict(); handle = RemovableHandle(hooks); hooks[handle.id] = print
    >>> handle.remove(); len(hooks)
    0
    """

    __module__ = "minigrad.utils.hooks"  # as in PyTorch: pickles and reprs name it
    _ids = count()

    def __init__(self, *hooks: Table) -> None:
        self.hooks = hooks
        self.id = next(self._ids)

    def remove(self) -> None:
        """Remove the hook; a second call is a no-op."""
        for hooks in self.hooks:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register(table: Table, hook: Any, prepend: bool = False, *marked: Table) -> RemovableHandle:
    """Add a hook to a table, last or, with `prepend`, first, and its number to `marked` tables.

    >>> hooks = OrderedDict(); handle = register(hooks, print)
    >>> hooks[handle.id] is print
    True
    """
    handle = RemovableHandle(table, *marked)
    table[handle.id] = hook
    for marks in marked:
        marks[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


class Extras:
    """Hooks and metadata of a node; most nodes have neither, so they store `None` instead."""

    __slots__ = ("metadata", "place", "post", "pre", "retained", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, Table] = {}  # output number -> hooks of that tensor
        self.retained: dict[int, Any] = {}  # output number -> weak reference to the tensor
        self.pre: Table = OrderedDict()
        self.post: Table = OrderedDict()
        self.metadata: dict[Any, Any] = {}
        self.place: Any = None  # device and stream of the forward, unless they are the default
