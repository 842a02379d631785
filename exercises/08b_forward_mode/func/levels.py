# Stage 08b, Forward mode and batches: the exercise for minigrad/func/levels.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08b
# docs/en/glossary.md explains the names used inside the package.

"""Levels: the `vmap`s and derivatives that are active on this thread, and their tensors.

NOTE [Derivatives inside vmap]
    A derivative inside `vmap` is taken for each example separately.  Its inputs are made batches
    before the function is called; shared inputs are expanded.  Then the gradient of the sum over
    the batch holds, for each example, the gradient with respect to that example's copy.  The graph
    records the batched values (`BatchedArray.value`); `VmapLevels` unwraps a tensor to its batched
    value, and wraps it again.
"""

from __future__ import annotations

from contextvars import ContextVar

from ..batching import BatchedArray, batched, examples, vmaps
from ..op.declaration import F
from ..tensor.tensor import Tensor

#: The number of derivatives that are being taken, one inside the other.
depth: ContextVar[int] = ContextVar("depth", default=0)


class VmapLevels:
    """Unwraps batched tensors of some levels to plain values, and wraps them again.

    The default is all levels that are active.
    """

    def __init__(self, levels: tuple[tuple[int, int], ...] | None = None) -> None:
        self.levels = vmaps.get() if levels is None else levels

    @property
    def count(self) -> int:
        """The number of batch dimensions that an unwrapped value has in front."""
        return len(self.levels)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of these dimensions."""
        return tuple(size for _, size in self.levels)

    def holds(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is batched at each level."""
        for level, _ in reversed(self.levels):
            inside: Tensor | None = examples(tensor, level)
            if inside is None:
                return False
            tensor = inside
        return True

    def without(self, level: int) -> VmapLevels | None:
        """Return the other levels; None if there are none."""
        rest = tuple(pair for pair in self.levels if pair[0] != level)
        return VmapLevels(rest) if rest else None

    def of(self, tensor: Tensor) -> Tensor:
        """Return the unwrapped value of a tensor; batch dimensions of outer levels come first."""
        # 08b.6 Each example with a copy of its own (about 7 lines)
        # `of` returns what the graph records for a tensor inside `vmap`: its value for all
        # examples, at all levels. `example` wraps such a value: what a function sees. Here
        # `levels` is `VmapLevels(((1, 3), (2, 5)))`, pairs of level and size, outermost
        # first.
        #   levels.of(x), x batched at both        -> its value, (3, 5, 2)
        #   levels.of(w), w shared, shape (2,)     -> shape (3, 5, 2), a copy for each example
        #   levels.of(y), y batched at 2 alone     -> (3, 5, 2) as well
        #   levels.example(value)                  -> batched at 1, then at 2
        # Mind:
        # - The level that was wrapped last is unwrapped first.
        # Use: `examples(tensor, level)`, `batched(value, level)`, `F.expand`.
        raise NotImplementedError("08b.6 Each example with a copy of its own is yours to write")

    def example(self, value: Tensor) -> Tensor:
        """Wrap a value: return the tensor that a function inside the levels sees."""
        # 08b.6 Each example with a copy of its own: see the task at `VmapLevels.of`.
        raise NotImplementedError("08b.6 Each example with a copy of its own is yours to write")


def is_batched(tensor: Tensor) -> bool:
    """Tell whether a tensor is batched.

    >>> from minigrad import tensor
    >>> is_batched(tensor(1.0))
    False
    """
    return isinstance(tensor._array, BatchedArray)
