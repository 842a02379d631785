# Stage 06, Saved tensors, versions and views: the exercise for minigrad/graph/version.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# docs/en/glossary.md explains the names used inside the package.

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
        # 06.1 Versions (about 6 lines)
        # Count writes, and reject a saved tensor whose memory was written to after it was
        # saved. `version_of` reads the version from a tensor's counter, `tensor._counter`,
        # which is None until the first write. `check` compares it with `self.version`, the
        # version when the tensor was saved.
        #   t never written to               -> version_of(t) is 0
        #   t written to twice               -> version_of(t) is 2
        #   saved at version 0, now 1        -> check(node) raises self.modified(1, node)
        #   saved at version 2, now 2        -> check(node) returns None
        # Mind:
        # - `self.tensor` may have got its counter only after it was saved.
        # - If only the array was kept, `self.tensor` is None and the counter is
        #   `self._counter`.
        # - Any difference counts.
        raise NotImplementedError("06.1 Versions is yours to write")


def version_of(tensor: Any) -> int:
    """Return the version of a tensor's memory."""
    # 06.1 Versions: see the task at `Version.bump`.
    raise NotImplementedError("06.1 Versions is yours to write")
