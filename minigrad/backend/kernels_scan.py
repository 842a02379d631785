"""Cumulative results along a dimension, for ufuncs without `accumulate` in some libraries."""

from typing import Any

Array = Any

__all__ = ["accumulate"]


def accumulate(xp: Any, combine: Any, array: Array, axis: int) -> Array:
    """`combine` of all elements so far along `axis`; `combine` must be associative.

    NumPy has it for every ufunc, GPU libraries for sums and products only.  For others, the range
    of each element is doubled until it reaches the first.

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
