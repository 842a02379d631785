"""NumPy calls as steps: each function here returns the same call for the same name.

Equal steps are recognised by their call and their arguments, so there has to be one call for each
NumPy function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...backend import numpy_backend

Array = Any

#: Functions that work elementwise, besides ufuncs.
ELEMENTWISE = ("where", "select", "erf")

#: Calls that one pass over memory computes, about as fast as the processor reads and writes.
CHEAP = {"add", "subtract", "multiply", "divide", "negative", "maximum", "minimum", "absolute",
         "square", "where", "select", "equal", "not_equal", "less", "less_equal", "greater",
         "greater_equal"}


@cache
def elementwise(name: str) -> Callable[..., Any]:
    """Return a step's call of a function that works elementwise."""
    def run(xp: Any, *operands: Any) -> Any:
        return getattr(xp, name)(*operands)

    vars(run)["calls"] = name
    return run


@cache
def reduction(name: str) -> Callable[..., Any]:
    """Return a step's call of a ufunc's reduction."""
    reduce = numpy_backend.sum if name == "add" else getattr(np, name).reduce

    def run(xp: Any, array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
        return reduce(array, axes, None, None, keepdims)

    vars(run)["reduces"] = name
    return run


def dot(xp: Any, a: Array, b: Array, kept: tuple[int, ...]) -> Array:
    """Sum the products of two arrays over all dimensions but `kept`."""
    dims = list(range(a.ndim))
    return np.einsum(a, dims, b, dims, list(kept))


def reshaped(xp: Any, array: Array, shape: tuple[int, ...]) -> Array:
    """Return a view with another shape."""
    return array.reshape(shape)
