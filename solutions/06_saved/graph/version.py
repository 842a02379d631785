# Stage 06, Saved tensors, versions and views: the solution for minigrad/graph/version.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Version counters: how a saved tensor notices that its memory was written to.

NOTE [Versions]
    A version counter is a separate object, because several tensors can share it: a view shares its
    base's counter, and so does the result of `detach()`, while `.data` starts a new one.  The
    counter is created on demand, so a tensor whose counter is `None` was never written to and is
    at version 0.  Every in-place write increments the counter.  A saved tensor records the version
    at which it was saved, and unpacking it at any other version raises.  Inference tensors, and
    tensors after `detach_()`, use the special counters of special_versions.py.
"""

from __future__ import annotations

from typing import Any


class Version:
    """Counts the in-place writes to memory that a tensor shares with its views."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def bump(self) -> None:
        """Count one write."""
        self.value += 1


def version_of(tensor: Any) -> int:
    """Return the version of a tensor's memory."""
    counter = tensor._counter
    return 0 if counter is None else counter.value
