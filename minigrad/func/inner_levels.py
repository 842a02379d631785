"""Support for calling a pullback inside a `vmap` that was entered after the pullback was made.

A pullback knows only the levels that were active when it was made.  A vector from a later `vmap`
has one more level, and so does the gradient.  That level stays the outermost wrapper, and its batch
dimension is carried along as an ordinary dimension.
"""

from __future__ import annotations

from ..batching import batched, examples, level_of
from ..op.declaration import F
from ..tensor.tensor import Tensor
from .levels import VmapLevels

__all__ = ["example", "value"]


def value(levels: VmapLevels, tensor: Tensor) -> Tensor:
    """Return `levels.of(tensor)`, keeping the batch of each level entered later."""
    level = level_of(tensor)
    if not _is_inside(levels, level):
        return levels.of(tensor)
    rows: Tensor = examples(tensor, level)  # type: ignore[assignment]  # it has this level
    return batched(F.movedim(value(levels, rows), levels.count, 0), level)


def example(levels: VmapLevels, tensor: Tensor) -> Tensor:
    """Return `levels.example(tensor)`, keeping the batch of each level entered later."""
    level = level_of(tensor)
    if not _is_inside(levels, level):
        return levels.example(tensor)
    rows: Tensor = examples(tensor, level)  # type: ignore[assignment]  # it has this level
    return batched(example(levels, F.movedim(rows, 0, levels.count)), level)


def _is_inside(levels: VmapLevels, level: int) -> bool:
    """Return whether a level was entered after all of `levels`."""
    return bool(levels.levels) and level > levels.levels[-1][0]
