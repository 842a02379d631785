# Stage 08b, Forward mode and batches: the exercise for minigrad/func/levels.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08b
# docs/en/glossary.md explains the names used inside the package.

"""Levels: the `vmap`s and derivatives that are active on this thread, and their tensors.

NOTE [Derivatives inside vmap]
    A derivative inside `vmap` is computed for each example separately.  Before the function is
    called, its inputs are turned into batches, and shared inputs are expanded.  That way, the
    gradient of the sum over the batch contains, for each example, the gradient with respect to
    that example's copy.  The graph records the batched values (`BatchedArray.value`).
    `VmapLevels` unwraps a tensor to its batched value, and wraps it again.
"""

from __future__ import annotations

from contextvars import ContextVar

from ..batching import BatchedArray, batched, examples, vmaps
from ..op.declaration import F
from ..tensor.tensor import Tensor

#: How many derivatives are being computed, nested inside each other.
depth: ContextVar[int] = ContextVar("depth", default=0)


class VmapLevels:
    """Unwraps tensors that are batched at some levels to plain values, and wraps them again.

    By default these are all the active levels.
    """

    def __init__(self, levels: tuple[tuple[int, int], ...] | None = None) -> None:
        self.levels = vmaps.get() if levels is None else levels

    @property
    def count(self) -> int:
        """The number of leading batch dimensions of an unwrapped value."""
        return len(self.levels)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of these dimensions."""
        return tuple(size for _, size in self.levels)

    def holds(self, tensor: Tensor) -> bool:
        """Return whether a tensor is batched at every level."""
        for level, _ in reversed(self.levels):
            inside: Tensor | None = examples(tensor, level)
            if inside is None:
                return False
            tensor = inside
        return True

    def without(self, level: int) -> VmapLevels | None:
        """Return the other levels, or `None` if there are no others."""
        rest = tuple(pair for pair in self.levels if pair[0] != level)
        return VmapLevels(rest) if rest else None

    def of(self, tensor: Tensor) -> Tensor:
        """Unwrap a tensor; the batch dimensions of outer levels come first."""
        # 08b.6 Values for all examples (about 7 lines)
        # `of` returns what the graph records for a tensor inside `vmap`: its value for all
        # examples, at all levels. `example` wraps such a value, so that it looks like one
        # example. Here `levels` is `VmapLevels(((1, 3), (2, 5)))`, pairs of level and size,
        # outermost first.
        #   levels.of(x), x batched at both        -> its value, (3, 5, 2)
        #   levels.of(w), w shared, shape (2,)     -> shape (3, 5, 2), a copy for each example
        #   levels.of(y), y batched at 2 alone     -> (3, 5, 2) as well
        #   levels.example(value)                  -> batched at 1, then at 2
        # Use: `examples(tensor, level)`, `batched(value, level)`, `F.expand`.
        raise NotImplementedError("08b.6 Values for all examples is yours to write")

    def example(self, value: Tensor) -> Tensor:
        """Wrap a value: return the tensor that a function inside the levels sees."""
        # 08b.6 Values for all examples: see the task at `VmapLevels.of`.
        raise NotImplementedError("08b.6 Values for all examples is yours to write")


def is_batched(tensor: Tensor) -> bool:
    """Return whether a tensor is batched.

    >>> from minigrad import tensor
    >>> is_batched(tensor(1.0))
    False
    """
    return isinstance(tensor._array, BatchedArray)
