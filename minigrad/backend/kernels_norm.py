"""Normalisation: what batch norm and layer norm do along their axes, in few passes over memory.

An array is brought to mean zero and variance one along some axes; `mean` and `invstd` (one over
the standard deviation) keep those axes with size one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

Array = Any
Ints = Sequence[int]

__all__ = ["dot_along", "moments", "normalization_gradient"]


def dot_along(xp: Any, a: Array, b: Array, axes: Ints) -> Array:
    """sum(a * b) along `axes`, which keep size one, without making the product.

    >>> dot_along(numpy, numpy.array([[1.0, 2.0]]), numpy.array([[3.0, 4.0]]), (1,))
    array([[11.]])
    """
    everything = list(range(a.ndim))
    kept = [i for i in everything if i not in axes]
    shape = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    return xp.einsum(a, everything, b, everything, kept).reshape(shape)


def moments(xp: Any, x: Array, axes: Ints) -> tuple[Array, Array, Array]:
    """The mean along `axes`, the variance (of the population), and x - mean, a new array.

    >>> moments(numpy, numpy.array([1.0, 3.0]), (0,))
    (array([2.]), array([1.]), array([-1.,  1.]))
    """
    count = prod(x.shape[i] for i in axes)
    mean = xp.sum(x, tuple(axes), keepdims=True) / x.dtype.type(count)
    centered = x - mean
    return mean, dot_along(xp, centered, centered, axes) / x.dtype.type(count), centered


def normalization_gradient(xp: Any, g: Array, x: Array, mean: Array, invstd: Array,
                           axes: Ints) -> Array:
    """The derivative of (x - mean) * invstd along `axes`, both functions of x, applied to `g`.

    >>> x, one = numpy.array([1.0, 3.0]), numpy.ones(1)
    >>> normalization_gradient(numpy, numpy.array([1.0, 1.0]), x, 2 * one, one, (0,))
    array([0., 0.])
    """
    count = x.dtype.type(prod(x.shape[i] for i in axes))
    result = x - mean
    result *= dot_along(xp, g, result, axes) * invstd * invstd / -count
    result -= xp.sum(g, tuple(axes), keepdims=True) / count
    result += g
    result *= invstd
    return result
