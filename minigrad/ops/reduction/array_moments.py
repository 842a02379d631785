"""The mean and the variance of bare arrays."""

import math

from ... import dtypes
from ...frames import warn_user
from .dims import extent
from .reduction import axes, require_float, wide


def average(xp, array, dim=None, keepdim=False, dtype=None):
    """Return the mean of a bare array, accumulated in at least float32; nan if it is empty."""
    if dtype is not None:
        array = array.astype(dtypes.numpy_of(dtype))
    given = "Input" if dtype is None else "Optional"
    require_float(array, f"mean(): could not infer output dtype. {given} dtype must be either a "
                         "floating point or complex dtype. Got: {}")
    total = xp.sum(wide(xp, array), axis=axes(array, dim), keepdims=keepdim)
    return (total / (extent(array.shape, dim) or math.nan)).astype(array.dtype, copy=False)


def variance(xp, array, dim, keepdim, correction, name):
    """Return the variance of a bare array, accumulated in at least float32."""
    require_float(array, "std and var only support floating point and complex dtypes")
    work, axis = wide(xp, array), axes(array, dim)
    n = extent(array.shape, dim)
    centred = work - xp.sum(work, axis=axis, keepdims=True) / (n or math.nan)
    total = xp.sum(centred * centred, axis=axis, keepdims=keepdim)
    if n > correction:
        return (total / (n - correction)).astype(array.dtype, copy=False)
    warn_user(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than "
              "the reduction factor (input numel divided by output numel).")
    return xp.where(total > 0, math.inf, math.nan).astype(array.dtype)
