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
from ..op import F
from ..tensor import Tensor

#: How many derivatives are being taken around the one that is asked for.
depth: ContextVar[int] = ContextVar("depth", default=0)


class Whole:
    """The batches of all levels under way, unwrapped into plain tensors and wrapped again."""

    def __init__(self) -> None:
        self.levels = vmaps.get()

    @property
    def count(self) -> int:
        """How many batch dimensions a whole tensor has in front."""
        return len(self.levels)

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
