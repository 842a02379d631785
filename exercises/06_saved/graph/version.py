# Stage 06, Saved tensors, versions and views: the exercise for minigrad/graph/version.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# docs/en/glossary.md explains the names used inside the package.

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
        # 06.1 Versions (about 6 lines)
        # Count writes, and refuse a saved tensor whose memory was written to since.
        # `version_of` reads a tensor's counter, `tensor._counter`, which is None until the
        # first write. `check` compares with `self.version`, the version at the saving.
        #   t never written to               -> version_of(t) is 0
        #   t written to twice               -> version_of(t) is 2
        #   saved at version 0, now 1        -> check(node) raises self.modified(1, node)
        #   saved at version 2, now 2        -> check(node) returns None
        # Mind:
        # - The counter of `self.tensor` may have been made since the saving.
        # - Where only the array was kept, `self.tensor` is None, and the counter is
        #   `self._counter`.
        # - Any difference counts.
        raise NotImplementedError("06.1 Versions is yours to write")


def version_of(tensor: Any) -> int:
    """Return the version of a tensor's memory."""
    # 06.1 Versions: see the task at `Version.bump`.
    raise NotImplementedError("06.1 Versions is yours to write")
