"""The incomplete gamma functions in float64, since NumPy lacks them.

Source: https://dlmf.nist.gov, chapter 8: 8.11.4 (series), 8.9.2 (continued fraction)
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from .special import BERNOULLI, FAR, in_float64, lgamma
from .special_float32 import polynomial

Array = Any

#: From here on, x near a needs the integral from x to the nearer tail.
LARGE = 100.0


@cache
def legendre_rule() -> tuple[Array, Array]:
    """Return nodes and weights of Gauss-Legendre integration over (-1, 1).

    >>> float(legendre_rule()[1].sum().round(12))
    2.0
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return nodes, weights


@in_float64
def gammainc(a: Array, x: Array) -> Array:
    """Return the fraction of the integral of t**(a - 1) exp(-t) over (0, inf) that is below x.

    >>> gammainc(np.array(1.0), np.array(1.0)).round(12)  # 1 - 1 / e
    np.float64(0.632120558829)
    """
    return shares(a, x)[0]


@in_float64
def gammaincc(a: Array, x: Array) -> Array:
    """Return the fraction of the integral of t**(a - 1) exp(-t) over (0, inf) that is above x.

    >>> gammaincc(np.array(1.0), np.array(1.0)).round(12)  # 1 / e
    np.float64(0.367879441171)
    """
    return shares(a, x)[1]


def shares(a: Array, x: Array) -> tuple[Array, Array]:
    """Return both fractions, computing the smaller one and taking its complement."""
    x = x.astype(np.float64, copy=False).reshape(a.shape)
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    below = np.where((a == 0) | (x == np.inf), 1.0, 0.0)
    below[~inside & ~((a >= 0) & (x >= 0) & (a != x))] = np.nan
    above = 1 - below
    between = inside & (a > LARGE) & (np.abs(x - a) < 0.3 * a)
    for chosen, summed, sums, rest in (
        (between & (x < a), integral, below, above),
        (between & (x >= a), integral, above, below),
        (inside & ~between & (x < a + 1), series, below, above),
        (inside & ~between & (x >= a + 1), fraction, above, below),
    ):
        sums[chosen] = summed(a[chosen], x[chosen])
        rest[chosen] = 1 - sums[chosen]
    return below, above


def density(a: Array, x: Array) -> Array:
    """Return x**a exp(-x) / Gamma(a + 1)."""
    off = (x - a) / a
    stirling = [b / (2 * j * (2 * j - 1)) for j, b in enumerate(BERNOULLI, 1)][::-1]
    correction = polynomial((*stirling, 0.0), 1 / (a * a)) * a
    far = np.exp(a * (np.log1p(off) - off) - correction) / np.sqrt(2 * math.pi * a)
    return np.where(a < FAR, np.exp(a * np.log(x) - x - lgamma(a + 1)), far)


def series(a: Array, x: Array) -> Array:
    """Return the fraction below x: density times 1 + x / (a + 1) + x**2 / (a + 1)(a + 2) ..."""
    total, term, n = np.ones_like(x), np.ones_like(x), 0
    while (term > total * 1e-17).any():
        n += 1
        term = term * x / (a + n)
        total += term
    return density(a, x) * total


def fraction(a: Array, x: Array) -> Array:
    """Return the fraction above x: density times a / (x + 1 - a - (1 - a) / (x + 3 - a - ...)).

    The continued fraction is evaluated from the front (Lentz).
    """
    b = x + 1 - a
    c, d = np.full_like(x, np.inf), 1 / b
    value, n, moving = d, 0, True
    while moving:
        n += 1
        factor = n * (a - n)
        b = b + 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        value = value * (c * d)
        moving = (np.abs(c * d - 1) > 1e-15).any() and n < 10_000
    return density(a, x) * a * value


def integral(a: Array, x: Array) -> Array:
    """Return the integral between x and the nearer end of the relevant range, by Gauss-Legendre."""
    width = np.sqrt(a)
    end = np.where(x < a, np.minimum(a - 8 * width, x - 5 * width),
                   np.maximum(a + 12 * width, x + 6 * width))
    half = (np.maximum(end, 0) - x)[:, None] / 2
    nodes, weights = legendre_rule()
    t = x[:, None] + half * (nodes + 1)
    return (density(a[:, None], t) * a[:, None] / t * np.abs(half)) @ weights
