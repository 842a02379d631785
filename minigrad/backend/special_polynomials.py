"""Orthogonal polynomials by their recurrences, with a degree for each element.

Source: https://dlmf.nist.gov, 18.9
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


def recurrence(first: Callable[[Array], Array],
               step: Callable[[int, Array, Array, Array], Array]) -> Callable[..., Array]:
    """Return a function that computes p(n) from p(0) = 1, p(1) = first(x) and a recurrence.

    p(k + 1) is step(k, x, p(k), p(k - 1)).

    A degree is truncated to an integer; below zero the result is 0.
    """

    def polynomial(x: Array, n: Array) -> Array:
        dtype = x.dtype
        x, n = (np.array(each, np.float64) for each in np.broadcast_arrays(x, n))
        degree = np.trunc(np.where(np.isfinite(n), n, -1)).astype(np.int64)
        last, this = np.ones_like(x), first(x)
        result = np.where(degree < 0, 0.0, np.where(degree == 0, 1.0, this))
        for k in range(1, int(degree.max(initial=0))):
            last, this = this, step(k, x, this, last)
            result = np.where(degree == k + 1, this, result)
        return np.where(np.isnan(x), x, result).astype(dtype)

    return polynomial


def chebyshev(first: Callable[[Array], Array]) -> Callable[..., Array]:
    """Return a Chebyshev polynomial; the four kinds differ in degree 1."""
    return recurrence(first, lambda k, x, this, last: 2 * x * this - last)


def shifted(polynomial: Callable[..., Array]) -> Callable[..., Array]:
    """Return a polynomial on [0, 1] given one on [-1, 1]."""
    return lambda x, n: polynomial(2 * x - 1, n)


chebyshev_t = chebyshev(lambda x: x)
chebyshev_u = chebyshev(lambda x: 2 * x)
chebyshev_v = chebyshev(lambda x: 2 * x - 1)
chebyshev_w = chebyshev(lambda x: 2 * x + 1)
shifted_t, shifted_u, shifted_v, shifted_w = map(
    shifted, (chebyshev_t, chebyshev_u, chebyshev_v, chebyshev_w))
hermite_h = recurrence(lambda x: 2 * x, lambda k, x, this, last: 2 * x * this - 2 * k * last)
hermite_he = recurrence(lambda x: x, lambda k, x, this, last: x * this - k * last)
laguerre_l = recurrence(
    lambda x: 1 - x, lambda k, x, this, last: ((2 * k + 1 - x) * this - k * last) / (k + 1))
legendre_p = recurrence(
    lambda x: x, lambda k, x, this, last: ((2 * k + 1) * x * this - k * last) / (k + 1))
