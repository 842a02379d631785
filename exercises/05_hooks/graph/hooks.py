# Stage 05, Hooks: the exercise for minigrad/graph/hooks.py.
# Made by `minigrad dev build`. The lesson is lessons/05_hooks.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 05
# docs/en/glossary.md explains the names used inside the package.

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
        # 05.1 Handles and tables (about 12 lines)
        # A table is an OrderedDict that maps numbers to hooks. `register` adds a hook to a
        # table and returns a handle that can remove it again. If the next numbers are 0, 1
        # and 2:
        #   handle = register(table, a)       -> table {0: a}, handle.id is 0
        #   register(table, b, True)          -> table {1: b, 0: a}: prepend
        #   register(table, c, False, marks)  -> table {1: b, 0: a, 2: c}, marks {2: True}
        #   handle.remove(), or twice         -> table {1: b, 2: c}
        # Mind:
        # - No two handles ever have the same number; `_ids` is the counter.
        # - A handle removes its entry from all of its tables, including the marked ones.
        # - `with register(table, hook):` removes the hook at the end and lets an exception
        #   pass.
        # Use: `self.hooks` for the tables and `self.id` for the number.
        raise NotImplementedError("05.1 Handles and tables is yours to write")

    def remove(self) -> None:
        """Remove the hook; a second call is a no-op."""
        # 05.1 Handles and tables: see the task at `RemovableHandle.__init__`.
        raise NotImplementedError("05.1 Handles and tables is yours to write")

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        # 05.1 Handles and tables: see the task at `RemovableHandle.__init__`.
        raise NotImplementedError("05.1 Handles and tables is yours to write")


def register(table: Table, hook: Any, prepend: bool = False, *marked: Table) -> RemovableHandle:
    """Add a hook to a table, last or, with `prepend`, first, and its number to `marked` tables.

    >>> hooks = OrderedDict(); handle = register(hooks, print)
    >>> hooks[handle.id] is print
    True
    """
    # 05.1 Handles and tables: see the task at `RemovableHandle.__init__`.
    raise NotImplementedError("05.1 Handles and tables is yours to write")


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
