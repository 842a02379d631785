"""`maximum` and `minimum`, made fast for a number and an array.

NumPy has fast code for two arrays and for two numbers that bound an array, as `clip` does.  With
one number, `maximum` takes four times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

__all__ = ["maximum", "minimum"]

Array = Any

#: In arrays that are not larger, the call takes longer than the comparisons.
FEW = 2048


def bounded(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return `maximum` or `minimum`, with the same results, fast if one operand is a number.

    >>> bounded(np.maximum)(2.0, np.arange(40000.0))[:4]
    array([2., 2., 2., 3.])
    """

    def bound(x: Any, y: Any, /, **kwargs: Any) -> Any:
        number, array = (x, y) if type(y) is np.ndarray else (y, x)
        if (type(array) is not np.ndarray or array.size <= FEW or array.dtype.kind != "f"
                or np.ndim(number) or np.result_type(array, number) != array.dtype
                or not kwargs.keys() <= {"out"}):
            return ufunc(x, y, **kwargs)
        bounds = (number, inf) if ufunc is np.maximum else (-inf, number)
        result = np.clip(array, *bounds, **kwargs)
        if array is x and number == 0:  # of two equal operands, such as -0.0 and 0, return `y`
            if np.signbit(number):
                result[result == 0] = number
            else:
                result += number  # which turns -0.0 into 0
        return result

    for name in ("accumulate", "at", "outer", "reduce", "reduceat"):
        setattr(bound, name, getattr(ufunc, name))
    return bound


maximum, minimum = bounded(np.maximum), bounded(np.minimum)
