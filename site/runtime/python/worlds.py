"""Keeps several copies of the package apart in one interpreter.

A page has one Python for its lesson, its tests and the reader's own engine.  Each of them imports
the package for itself; the modules of the others are put aside meanwhile, and come back.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
from collections.abc import Iterator
from types import ModuleType

__all__ = ["World", "take_out"]

_OURS = re.compile(r"minigrad(_beside_\w+)?(\.|$)|_oracle$|test_|minigrad_symptoms$")


def take_out() -> dict[str, ModuleType]:
    """Take the package and the tests out of `sys.modules`, and return them."""
    found = {name: sys.modules.pop(name) for name in [*sys.modules] if _OURS.match(name)}
    importlib.invalidate_caches()
    return found


class World:
    """A copy of the package and of `__main__`, empty at first.

    >>> import minigrad
    >>> world = World()
    >>> with world.entered():
    ...     "minigrad" in sys.modules
    False
    >>> sys.modules["minigrad"] is minigrad
    True
    """

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._main: ModuleType = ModuleType("__main__")

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Let imports find this copy; what the interpreter had before comes back at the end."""
        outside, main = take_out(), sys.modules.get("__main__")
        path, finders, environment = list(sys.path), list(sys.meta_path), dict(os.environ)
        writes, limit = sys.dont_write_bytecode, sys.getrecursionlimit()
        sys.modules.update(self._modules)
        sys.modules["__main__"] = self._main
        try:
            yield
        finally:
            self._main = sys.modules["__main__"]
            self._modules = take_out()
            sys.modules.update(outside)
            if main is not None:
                sys.modules["__main__"] = main
            sys.path[:], sys.meta_path[:] = path, finders
            os.environ.clear()
            os.environ.update(environment)
            sys.dont_write_bytecode = writes
            sys.setrecursionlimit(limit)
