"""The p-norm of bare arrays."""

import math

from ... import dtypes
from ...dtypes import type_name
from .dims import extent
from .reduction import axes, require_float, wide


def check_norm_dtype(name, given, wanted):
    """Raise unless the dtype `given` converts to the floating-point dtype `wanted` without loss."""
    wanted = dtypes.as_dtype(wanted)
    if not isinstance(wanted, dtypes.dtype):
        return
    if not wanted.is_floating_point:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got "
                           f"{type_name(wanted)}")
    if dtypes.promote_types(given, wanted) is not wanted:
        raise RuntimeError(f"{name}: the dtype of the input ({type_name(given)}) should be "
                           "convertible without narrowing to the specified dtype "
                           f"({type_name(wanted)})")


def norm_of(xp, array, p, dim, keepdim, dtype):
    """Return the p-norm of a bare array of vectors along `dim`."""
    require_float(array, "linalg.vector_norm: Expected a floating point or complex tensor as "
                         "input. Got {}")
    check_norm_dtype("linalg.vector_norm", dtypes.from_numpy_dtype(array.dtype), dtype)
    out = array.dtype if dtype is None else dtypes.numpy_of(dtype)
    axis = axes(array, dim)
    size = xp.abs(wide(xp, array.astype(out, copy=False)))
    if (p < 0 or p == math.inf) and extent(array.shape, dim) == 0:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor "
                           "because the operation does not have an identity")
    if p == math.inf:
        norm = size.max(axis=axis, keepdims=keepdim)
    elif p == -math.inf:
        norm = size.min(axis=axis, keepdims=keepdim)
    elif p == 0:
        norm = xp.sum(size != 0, axis=axis, keepdims=keepdim)
    elif p == 1:
        norm = xp.sum(size, axis=axis, keepdims=keepdim)
    elif p == 2:
        norm = xp.sqrt(xp.sum(size * size, axis=axis, keepdims=keepdim))
    else:
        norm = xp.power(xp.sum(size**p, axis=axis, keepdims=keepdim), 1 / p)
    return norm.astype(out, copy=False)
