# Stage 06, Saved tensors, versions and views: the solution for minigrad/graph/version.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Version counters: how a saved tensor notices that its memory was written to.

NOTE [Versions]
    A version counter is an object of its own.  A view shares its base's, `detach()` shares it,
    `.data` gets a new one.  It is made when first needed: a tensor whose counter is None was
    never written to and is at version 0.  Every in-place write adds one; a saved tensor
    remembers the version it was saved at and refuses to be used at any other.  Inference tensors,
    and tensors after `detach_()`, have counters of their own, in special_versions.py.
"""

from __future__ import annotations

from typing import Any


class Version:
    """How often the memory of a tensor and of its views was written to."""

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
