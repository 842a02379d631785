"""Reductions of the elements that are not masked out."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..op.declaration import F
from .masks import _input_mask, dimensions, filled, in_dtype


def accumulated(input: Any, dtype: Any) -> Any:
    """Return the dtype of sums and products: int64 for booleans and smaller integers."""
    if dtype is not None:
        return dtype
    return input.dtype if input.dtype.is_floating_point else dtypes.int64


def sum(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
        mask: Any = None) -> Any:
    """Return the sums along `dim`; 0 if all elements are masked out.

    >>> from minigrad import masked, tensor
    >>> masked.sum(tensor([[1, 2], [3, 4]]), 1, mask=tensor([True, False]))
    tensor([1, 3])
    """
    dims = dimensions(dim, input.ndim)
    return F.sum(filled("sum", input, mask), dims, bool(keepdim), dtype=accumulated(input, dtype))


def prod(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
         mask: Any = None) -> Any:
    """Return the products along `dim`; 1 if all elements are masked out.

    >>> from minigrad import masked, tensor
    >>> masked.prod(tensor([[1, 2], [3, 4]]), 0, mask=tensor([True, False]))
    tensor([3, 1])
    """
    result = F.to(filled("prod", input, mask), dtype=accumulated(input, dtype))
    for d in reversed(dimensions(dim, input.ndim)):
        result = F.prod(result, d, bool(keepdim))
    return result


def amax(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
         mask: Any = None) -> Any:
    """Return the maxima along `dim`; -inf or the smallest integer if all are masked out.

    >>> from minigrad import masked, tensor
    >>> masked.amax(tensor([[1.0, 2.0], [3.0, 4.0]]), 0, mask=tensor([True, False]))
    tensor([3., -inf])
    """
    found = F.amax(filled("amax", input, mask), dimensions(dim, input.ndim), bool(keepdim))
    return in_dtype(found, input, dtype)


def amin(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
         mask: Any = None) -> Any:
    """Return the minima along `dim`; inf or the largest integer if all are masked out.

    >>> from minigrad import masked, tensor
    >>> masked.amin(tensor([[1.0, 2.0], [3.0, 4.0]]), 1, mask=tensor([False, True]))
    tensor([2., 4.])
    """
    found = F.amin(filled("amin", input, mask), dimensions(dim, input.ndim), bool(keepdim))
    return in_dtype(found, input, dtype)


def argmax(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
           mask: Any = None) -> Any:
    """Return the indices of the maxima along `dim`, in the dtype of the tensor.

    >>> from minigrad import masked, tensor
    >>> masked.argmax(tensor([5, 7, 6]), mask=tensor([True, False, True]))
    tensor(2)
    """
    found = F.argmax(filled("argmax", input, mask), dim, bool(keepdim))
    return in_dtype(found, input, dtype)


def argmin(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
           mask: Any = None) -> Any:
    """Return the indices of the minima along `dim`, in the dtype of the tensor.

    >>> from minigrad import masked, tensor
    >>> masked.argmin(tensor([5, 4, 6]), mask=tensor([True, False, True]))
    tensor(0)
    """
    found = F.argmin(filled("argmin", input, mask), dim, bool(keepdim))
    return in_dtype(found, input, dtype)


def counted(input: Any, dim: Any, keepdim: Any, mask: Any) -> Any:
    """Return the number of unmasked elements along `dim`."""
    ones = F.ones(tuple(input.shape), dtype=dtypes.bool, device=input.device)
    return sum(ones if mask is None else _input_mask(input, mask=mask), dim, keepdim=keepdim)


def mean(input: Any, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
         mask: Any = None) -> Any:
    """Return the means along `dim`; nan if all are masked out.  `ValueError` for integers.

    >>> from minigrad import masked, tensor
    >>> masked.mean(tensor([1.0, 2.0, 9.0]), mask=tensor([True, True, False]))
    tensor(1.5000)
    """
    source = "Input" if dtype is None else "Optional"
    dtype = input.dtype if dtype is None else dtype
    if not dtype.is_floating_point:
        raise ValueError(f"mean(): Could not infer output dtype. {source} dtype must be either a "
                         f"floating point or complex dtype. Got: {dtype}")
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / counted(input, dim, keepdim, mask)


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None,
           mask: Any = None) -> Any:
    """Return the medians along `dim`, the lower of two; nan if all are masked out.

    Raises `ValueError` if all are masked out and the tensor holds integers.

    >>> from minigrad import masked, tensor
    >>> masked.median(tensor([1.0, 2.0, 9.0]), mask=tensor([True, False, True]))
    tensor(1.)
    """
    dtype = input.dtype if dtype is None else dtype
    floating = input.dtype.is_floating_point
    values = input if floating else input.float()
    dim, = dimensions(dim, input.ndim)[:1]
    found = F.nanmedian(filled("median", values, mask), dim, keepdim)[0]
    if floating:
        return found
    if F.any(F.isnan(found)):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating "
                         "point")
    return F.to(found, dtype=dtype)


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
              mask: Any = None) -> Any:
    """Return log(sum(exp(x))) along `dim`; -inf if all elements are masked out.

    >>> from minigrad import masked, tensor
    >>> masked.logsumexp(tensor([0.0, 0.0, 9.0]), mask=tensor([True, True, False]))
    tensor(0.6931)
    """
    dims = dimensions(dim, input.ndim)
    found = F.logsumexp(filled("logsumexp", input, mask), dims, keepdim)
    return in_dtype(found, input, dtype)


def norm(input: Any, ord: Any = 2.0, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
         mask: Any = None) -> Any:
    """Return the norms of order `ord` along `dim`; 0 if all are masked out, inf for order -inf.

    >>> from minigrad import masked, tensor
    >>> masked.norm(tensor([3.0, 4.0, 9.0]), mask=tensor([True, True, False]))
    tensor(5.)
    """
    dims, dtype = dimensions(dim, input.ndim), input.dtype if dtype is None else dtype
    return F.linalg_vector_norm(filled("norm", input, mask, ord), ord, dims, bool(keepdim),
                                dtype=dtype)


def var(input: Any, dim: Any = None, unbiased: Any = None, *, correction: Any = None,
        keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return the variances along `dim`, with the divisor n - `correction`, 1 by default.

    `unbiased=False` means a correction of 0. The result is nan if all elements are masked out.

    >>> from minigrad import masked, tensor
    >>> masked.var(tensor([1.0, 3.0, 9.0]), mask=tensor([True, True, False]))
    tensor(2.)
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1.0 if unbiased is None else float(unbiased)
    if dtype is None:
        dtype = input.dtype if input.dtype.is_floating_point else dtypes.float32
    computed = dtype if dtype.is_floating_point else dtypes.float32
    total = sum(input, dim, keepdim=True, dtype=dtype, mask=mask)
    off = input - total / counted(input, dim, True, mask)
    squares = sum(off * off, dim, keepdim=keepdim, dtype=computed, mask=mask)
    count = counted(input, dim, keepdim, mask)
    if correction != 0:
        count = F.clamp(F.to(count, computed) - float(correction), min=0)
    return F.to(squares / count, dtype)


def std(input: Any, dim: Any = None, unbiased: Any = None, *, correction: Any = None,
        keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Any:
    """Return the standard deviations, the square roots of `var`.

    >>> from minigrad import masked, tensor
    >>> masked.std(tensor([1.0, 3.0, 9.0]), mask=tensor([True, True, False]))
    tensor(1.4142)
    """
    return F.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype,
                      mask=mask))
