"""Sums along the last dimensions, in a third of the time that `np.sum` takes.

NumPy's `einsum` adds the elements of a row in the lanes of the processor's vectors; `add.reduce`
adds them in another order, which its compiler does not turn into vector code.  So that rounding
errors stay as small, long rows are summed in pieces, and then the sums of the pieces.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

__all__ = ["reduce_sum"]

Array = Any

#: The length of a piece at most.
PIECE = 256


def reduce_sum(array: Array, axis: Any = None, dtype: Any = None, out: None = None,
               keepdims: bool = False) -> Any:
    """Do what `np.add.reduce` does; for many elements, the last bits may differ.

    >>> reduce_sum(np.ones((100, 100)), (1,))[:3]
    array([100., 100., 100.])
    """
    reduce: Any = np.add.reduce
    if array.dtype.char not in "fd" or not array.flags.c_contiguous or (
            dtype is not None and dtype != array.dtype):
        return reduce(array, axis, dtype, None, keepdims)
    ndim = array.ndim
    axes = range(ndim) if axis is None else axis if type(axis) is tuple else (axis,)
    kept = ndim - len(axes)
    length = prod(array.shape[kept:])
    if length < 32 or sorted(i % ndim for i in axes) != list(range(kept, ndim)):
        return reduce(array, axis, dtype, None, keepdims)
    sums = sums_of_rows(array.reshape(-1, length))
    if keepdims:
        return sums.reshape(array.shape[:kept] + (1,) * len(axes))
    return sums.reshape(array.shape[:kept]) if kept else sums[0]


def sums_of_rows(rows: Array) -> Array:
    """Return the sum of each row of a matrix."""
    count, length = rows.shape
    if length <= PIECE:
        return np.einsum("ij->i", rows)
    pieces = -(-length // PIECE)
    size = length // pieces
    whole = rows[:, :pieces * size].reshape(count, pieces, size)
    sums = np.einsum("ijk->ij", whole)
    if pieces * size < length:
        sums[:, 0] += np.add.reduce(rows[:, pieces * size:], 1)
    return sums_of_rows(sums)
