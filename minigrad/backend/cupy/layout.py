"""Layout of arrays for kernels: row-major, with a wider type for sums."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

Array = Any

#: float16, float32 and float64 by their letters, which NumPy compares thirty times as fast as
#: names.
FLOATS = "efd"


def dense(array: Array) -> Array:
    """Return an array in row-major order, as kernels require."""
    return array if array.flags.c_contiguous else cupy.ascontiguousarray(array)


def wide_type(dtype: Any) -> Any:
    """Return the dtype for sums over arrays of a dtype."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def wide(array: Array | None, like: Array) -> Array | None:
    """Return parameters or moments in the form that kernels read for an array."""
    if array is None:
        return None
    return dense(array.astype(wide_type(like.dtype), copy=False))


def covered(dims: int, *arrays: Array) -> bool:
    """Return whether the kernels support these arrays, by dtype and number of dimensions."""
    kinds = {a.dtype.char for a in arrays if a is not None}
    return dims <= 3 and len(kinds) == 1 and kinds.pop() in FLOATS
