"""A pullback that is called inside a `vmap` which was entered after it was made.

The derivative knows the levels that were there when it was made.  A vector has a level more, and so
has the gradient: it stays the outermost wrapper, and rows of the batch are treated like values.
"""

from __future__ import annotations

from ..batching import batched, examples, level_of
from ..op.declaration import F
from ..tensor.tensor import Tensor
from .levels import VmapLevels

__all__ = ["example", "value"]


def value(levels: VmapLevels, tensor: Tensor) -> Tensor:
    """Return `levels.of(tensor)`, in a batch of each level that was entered since."""
    level = level_of(tensor)
    if not _is_inside(levels, level):
        return levels.of(tensor)
    rows: Tensor = examples(tensor, level)  # type: ignore[assignment]  # it has this level
    return batched(F.movedim(value(levels, rows), levels.count, 0), level)


def example(levels: VmapLevels, tensor: Tensor) -> Tensor:
    """Return `levels.example(tensor)`, in a batch of each level that was entered since."""
    level = level_of(tensor)
    if not _is_inside(levels, level):
        return levels.example(tensor)
    rows: Tensor = examples(tensor, level)  # type: ignore[assignment]  # it has this level
    return batched(example(levels, F.movedim(rows, 0, levels.count)), level)


def _is_inside(levels: VmapLevels, level: int) -> bool:
    """Tell whether a level was entered after all of `levels`."""
    return bool(levels.levels) and level > levels.levels[-1][0]
