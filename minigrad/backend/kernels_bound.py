"""`maximum` and `minimum`, made fast for a number and an array.

NumPy has fast code for two arrays only; with a number it takes three times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["maximum", "minimum"]

Array = Any

#: So many elements are compared at a time.  In an array that is not larger, the gain is small.
BLOCK = 32768


def bounded(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return `maximum` or `minimum`, with the same results, fast if one operand is a number.

    >>> bounded(np.maximum)(2.0, np.arange(40000.0))[:4]
    array([2., 2., 2., 3.])
    """
    def bound(x: Any, y: Any, /, **kwargs: Any) -> Any:
        number, array = (x, y) if type(y) is np.ndarray else (y, x)
        if (type(array) is not np.ndarray or array.size <= BLOCK or array.dtype.kind != "f"
                or np.ndim(number) or np.result_type(array, number) != array.dtype or kwargs
                or not (array.flags.c_contiguous or array.flags.f_contiguous)):
            return ufunc(x, y, **kwargs)
        result, wall = np.empty_like(array), np.full(BLOCK, number, array.dtype)
        flat, room = array.ravel("K"), result.ravel("K")  # views
        for start in range(0, flat.size, BLOCK):
            part = flat[start:start + BLOCK]
            pair = (wall[:part.size], part) if array is y else (part, wall[:part.size])
            ufunc(*pair, out=room[start:start + BLOCK])
        return result

    for name in ("accumulate", "at", "outer", "reduce", "reduceat"):
        setattr(bound, name, getattr(ufunc, name))
    return bound


maximum, minimum = bounded(np.maximum), bounded(np.minimum)
