"""Fetches modules that a page rarely needs, when one of them is first imported.

They are the rest of the package, of NumPy, and of Python's own library.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

__all__ = ["Later", "install"]

#: Where the rest of Python's library is unpacked.
PLACE = f"/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


class Later:
    """The last finder that Python asks: it fetches where a module is and looks again."""

    def __init__(self, fetch: Callable[[str], Any]) -> None:
        self._fetch = fetch

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        """Return where a module is, or None; ImportError where the rest cannot be fetched."""
        try:
            if not self._fetch(name):
                return None
        except Exception as problem:
            raise ImportError(f"{name} is in a part of Python or minigrad that could not be "
                              f"fetched: {problem}", name=name) from None
        importlib.invalidate_caches()
        # the rest of a package in the library's zip is unpacked beside NumPy
        below = [f"{PLACE}/{name.rpartition('.')[0].replace('.', '/')}"] if path else []
        return importlib.machinery.PathFinder.find_spec(name, path and [*path, *below], target)


def install(fetch: Callable[[str], Any]) -> None:
    """Import missing modules by `fetch`, which fetches and unpacks them.

    It returns False for a module that it does not have.
    """
    sys.meta_path.append(Later(fetch))
