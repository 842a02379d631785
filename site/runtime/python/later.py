"""Fetches modules that a page rarely needs, when one of them is first imported."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

__all__ = ["Later", "install"]

#: The packages of which a part comes later.
PACKAGES = ("minigrad", "minigrad_course")


class Later:
    """The last finder that Python asks: it fetches the rest of the package and looks again."""

    def __init__(self, fetch: Callable[[], Any]) -> None:
        self._fetch: Callable[[], Any] | None = fetch

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        """Return where a module is, or None; ImportError where the rest cannot be fetched."""
        if self._fetch is None or name.partition(".")[0] not in PACKAGES:
            return None
        try:
            self._fetch()
        except Exception as problem:
            raise ImportError(f"{name} comes with a part of minigrad that could not be fetched: "
                              f"{problem}", name=name) from None
        self._fetch = None
        importlib.invalidate_caches()
        return importlib.machinery.PathFinder.find_spec(name, path, target)


def install(fetch: Callable[[], Any]) -> None:
    """Have the rest fetched by `fetch`, which unpacks it where the first part lies."""
    sys.meta_path.append(Later(fetch))
