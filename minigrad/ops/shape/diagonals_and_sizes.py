"""Functions that older programs use: fill a diagonal, compare sizes, copy a part."""

from __future__ import annotations

from typing import Any

from ...op.declaration import F
from ...op.publish import function
from ...tensor.tensor import Tensor, method


@method("fill_diagonal_")
def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Fill the main diagonal in place; with `wrap`, it starts again below a tall matrix.

    Raises `RuntimeError` for one dimension, or for more than two that differ in size.

    >>> from minigrad import zeros
    >>> zeros(2, 2).fill_diagonal_(1)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step = sum(self.stride())
    count = min(self.shape)
    self.as_strided((count,), (step,)).fill_(fill_value)
    if wrap and self.ndim == 2 and self.shape[0] > self.shape[1] + 1:
        rows, columns = self.shape
        for start in range(columns + 1, rows, columns + 1):
            self[start:].fill_diagonal_(fill_value)
    return self


@method("dim_order")
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """Return the dimensions from the largest stride to the smallest.

    >>> from minigrad import ones
    >>> ones(2, 3).t().dim_order()
    (1, 0)
    """
    strides = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda dim: -strides[dim]))


@method("is_pinned")
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Return False: `pin_memory` copies, and the copy is an ordinary tensor to a program.

    >>> from minigrad import ones
    >>> ones(1).is_pinned()
    False
    """
    return False


@function(event=False)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape.  Source: `torch.is_same_size`.

    >>> from minigrad import is_same_size, ones
    >>> is_same_size(ones(2), ones(3))
    False
    """
    return input.shape == other.shape


@function(method_too=False)
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write `values`, or add them, to `input[indices]`.

    >>> from minigrad import index_put_, tensor, zeros
    >>> index_put_(zeros(2), (tensor([1]),), tensor(5.0))
    tensor([0., 5.])
    """
    return input.index_put_(indices, values, accumulate)


@function(method_too=False, event=False)
def detach_(input: Tensor) -> Tensor:
    """Drop the history of a tensor, in place.

    >>> from minigrad import detach_, ones
    >>> x = ones(1, requires_grad=True) * 2; detach_(x).requires_grad
    False
    """
    return input.detach_()


@function(method_too=False)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the powers of each element, by default from N - 1 to 0.  Source: `torch.vander`.

    >>> from minigrad import tensor, vander
    >>> vander(tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    powers: Tensor = F.linalg_vander(x, N=N)
    return powers if increasing else F.flip(powers, (-1,))
