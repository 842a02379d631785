# Stage 06, Saved tensors, versions and views: the exercise for minigrad/graph/version.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# Names of the package's inside are explained in docs/en/glossary.md.

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
        # 06.1 Versions (about 7 lines)
        # Version.bump(): count one write. version_of(tensor): the version of the tensor's
        # memory; its counter lies in tensor._counter and is None for a tensor that was never
        # written to, which is at version 0. SavedTensor.check(node): raise if the memory was
        # written to since it was saved. The version then stands in self.version. The version
        # now is that of self.tensor (the counter may have been made since), or, where only
        # the array was kept and self.tensor is None, the value of self._counter (0 if there
        # is none). If the two differ in any way, raise modified_error(self._array,
        # self.index, origin, version now, version then), where origin is the node that made
        # the tensor: the grad_fn of self.tensor if that is there, otherwise `node`, which
        # saved its own output. Otherwise return nothing.
        raise NotImplementedError("06.1 Versions is yours to write")


def version_of(tensor: Any) -> int:
    """Return the version of a tensor's memory."""
    # 06.1 Versions: see the task at `Version.bump`.
    raise NotImplementedError("06.1 Versions is yours to write")
