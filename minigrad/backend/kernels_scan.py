"""Cumulative results along a dimension, for ufuncs that lack `accumulate` in some libraries."""

from typing import Any

Array = Any

__all__ = ["accumulate"]


def accumulate(xp: Any, combine: Any, array: Array, axis: int) -> Array:
    """Return the cumulative results of `combine`, an associative ufunc, along `axis`.

    NumPy supports this for every ufunc, but GPU libraries only for sums and products.  For other
    ufuncs we double the range that each element covers, until it reaches the first element.

    >>> accumulate(numpy, numpy.maximum, numpy.array([1, 3, 2]), 0)
    array([1, 3, 3])
    """
    if getattr(xp, "device_type", "cpu") == "cpu":
        return combine.accumulate(array, axis=axis)
    result = array.copy()
    last = xp.moveaxis(result, axis, -1)
    reach = 1
    while reach < last.shape[-1]:
        last[..., reach:] = combine(last[..., :-reach], last[..., reach:])
        reach *= 2
    return result
