"""Masked operations that keep the shape of the tensor."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from .masks import dimensions, filled, in_dtype
from .reductions import norm


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return the cumulative sums along `dim`.

    >>> from minigrad import masked, tensor
    >>> masked.cumsum(tensor([1.0, 2.0, 3.0]), 0, mask=tensor([True, False, True]))
    tensor([1., 1., 4.])
    """
    dtype = input.dtype if dtype is None else dtype
    return F.cumsum(filled("sum", input, mask), dimensions(dim, input.ndim)[0], dtype=dtype)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return the cumulative products along `dim`.

    >>> from minigrad import masked, tensor
    >>> masked.cumprod(tensor([2.0, 3.0, 4.0]), 0, mask=tensor([True, False, True]))
    tensor([2., 2., 8.])
    """
    dtype = input.dtype if dtype is None else dtype
    return F.cumprod(filled("prod", input, mask), dimensions(dim, input.ndim)[0], dtype=dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return the softmax along `dim`: 0 for masked-out elements, nan if all are masked out.

    >>> from minigrad import masked, tensor
    >>> masked.softmax(tensor([1.0, 1.0, 5.0]), 0, mask=tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    dtype = input.dtype if dtype is None else dtype
    return F.softmax(filled("amax", input, mask), dimensions(dim, input.ndim)[0], dtype=dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return the logarithm of the softmax along `dim`: -inf for masked-out elements.

    >>> from minigrad import masked, tensor
    >>> masked.log_softmax(tensor([1.0, 1.0, 5.0]), 0, mask=tensor([True, True, False]))
    tensor([-0.6931, -0.6931,    -inf])
    """
    dtype = input.dtype if dtype is None else dtype
    return F.log_softmax(filled("amax", input, mask), dimensions(dim, input.ndim)[0], dtype=dtype)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return the softmax of -x along `dim`: 0 for masked-out elements.

    >>> from minigrad import masked, tensor
    >>> masked.softmin(tensor([1.0, 1.0, -5.0]), 0, mask=tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    dtype = input.dtype if dtype is None else dtype
    return F.softmax(-filled("amin", input, mask), dimensions(dim, input.ndim)[0], dtype=dtype)


def normalize(input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None,
              mask: Any = None) -> Any:
    """Divide a tensor by its norms along `dim`, or by `eps` if they are smaller.

    >>> from minigrad import masked, tensor
    >>> masked.normalize(tensor([3.0, 4.0, 9.0]), 2.0, 0, mask=tensor([True, True, False]))
    tensor([0.6000, 0.8000, 0.0000])
    """
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled("sum", input, mask) / F.maximum(size, F.new_full(size, (), eps))


def logaddexp(input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None,
              other_mask: Any = None) -> Any:
    """Return log(exp(input) + exp(other)), with a separate mask for each tensor.

    >>> from minigrad import masked, tensor
    >>> a, b = tensor([-100.0, -200.0]), tensor([-1.0, -2.0])
    >>> masked.logaddexp(a, b, other_mask=tensor([True, False]))
    tensor([  -1., -200.])
    """
    found = F.logaddexp(filled("logaddexp", input, input_mask),
                        filled("logaddexp", other, other_mask))
    return in_dtype(found, input, dtype)
