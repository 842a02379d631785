"""Which `vmap`s and derivatives are under way on this thread, and tensors that belong to them.

NOTE [Derivatives inside vmap]
    A derivative that is taken inside `vmap` is each example's own.  So its inputs are made batches
    before the function is called, shared ones by repeating them: then the gradient of the sum over
    the batch holds, for each example, the gradient by that example's copy.  The graph is that of
    the whole batches (`BatchedArray.value`); `Whole` leads from a tensor to its whole batch and
    back.
"""

from __future__ import annotations

from contextvars import ContextVar

from ..batching import BatchedArray, batched, examples, vmaps
from ..op.declaration import F
from ..tensor.tensor import Tensor

#: How many derivatives are being taken around the one that is asked for.
depth: ContextVar[int] = ContextVar("depth", default=0)


class Whole:
    """The batches of levels, of all under way unless told, unwrapped into plain tensors and wrapped
    again."""

    def __init__(self, levels: tuple[tuple[int, int], ...] | None = None) -> None:
        self.levels = vmaps.get() if levels is None else levels

    @property
    def count(self) -> int:
        """How many batch dimensions a whole tensor has in front."""
        return len(self.levels)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of these dimensions."""
        return tuple(size for _, size in self.levels)

    def holds(self, tensor: Tensor) -> bool:
        """Tell whether a tensor stands for a batch of each level."""
        for level, _ in reversed(self.levels):
            inside: Tensor | None = examples(tensor, level)
            if inside is None:
                return False
            tensor = inside
        return True

    def without(self, level: int) -> Whole | None:
        """Return the other levels' batches; None where there are none."""
        rest = tuple(pair for pair in self.levels if pair[0] != level)
        return Whole(rest) if rest else None

    def of(self, tensor: Tensor) -> Tensor:
        """Return all examples of a tensor: the dimensions of outer levels first."""
        for level, size in reversed(self.levels):
            batch: Tensor | None = examples(tensor, level)
            tensor = F.expand(tensor, (size, *tensor.shape)) if batch is None else batch
        return tensor

    def example(self, whole: Tensor) -> Tensor:
        """Return the tensor that a function inside the levels sees."""
        for level, _ in self.levels:
            whole = batched(whole, level)
        return whole


def is_batched(tensor: Tensor) -> bool:
    """Tell whether a tensor stands for a batch.

    >>> from minigrad import tensor
    >>> is_batched(tensor(1.0))
    False
    """
    return isinstance(tensor._array, BatchedArray)
