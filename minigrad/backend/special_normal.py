"""Functions of the normal distribution, and Hurwitz's zeta function, in float64.

Source: https://dlmf.nist.gov, 7.7 to 7.12 (erfcx) and 25.11; 26.2.23 of Abramowitz and Stegun for
the initial guess of `ndtri`
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .special import BERNOULLI, ERFC, erfc, in_float64
from .special_float32 import polynomial

Array = Any

ROOT_2 = math.sqrt(2)


@in_float64
def erfcx(x: Array) -> Array:
    """Return exp(x**2) erfc(x).

    >>> erfcx(np.array([0.0, 100.0])).round(6)
    array([1.      , 0.005642])
    """
    result = np.exp(x * x) * erfc(x)
    middle = (x >= 1) & (x < 28)
    y = x[middle]
    result[middle] = polynomial(ERFC, (248 / (y + 3) - 35) / 27) / y
    y = x[x >= 28]
    s = 1 / (2 * y * y)
    result[x >= 28] = (1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s)))) / (y * math.sqrt(math.pi))
    return result


@in_float64
def ndtr(x: Array) -> Array:
    """Return the fraction of the standard normal distribution below x.

    >>> ndtr(np.array(0.0))
    array(0.5)
    """
    return erfc(-x / ROOT_2) / 2


@in_float64
def log_ndtr(x: Array) -> Array:
    """Return the logarithm of `ndtr`, without underflow.

    >>> log_ndtr(np.array(-100.0)).round(3)
    np.float64(-5005.524)
    """
    low = np.log(erfcx(np.where(x < -1, -x, 0.0) / ROOT_2) / 2) - x * x / 2
    return np.where(x < -1, low, np.log1p(-erfc(x / ROOT_2) / 2))


@in_float64
def ndtri(p: Array) -> Array:
    """Return x with ndtr(x) = p, by Newton's method on logarithms.

    It is infinite at 0 and 1, and nan beyond.

    >>> ndtri(np.array([0.5, 1.0]))
    array([ 0., inf])
    """
    share = np.minimum(p, 1 - p)
    t = np.sqrt(-2 * np.log(share))
    x = (2.515517 + t * (0.802853 + t * 0.010328)) / (
        1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
    for _ in range(4):
        slope = math.sqrt(2 / math.pi) / erfcx(-x / ROOT_2)
        x = x - (log_ndtr(x) - np.log(share)) / slope
    x = np.where(share == 0, -np.inf, np.where(share == 0.5, 0.0, x))
    return np.where(p > 0.5, -x, x)


def zeta(s: Array, q: Array) -> Array:
    """Return the sum of (q + k)**-s over k = 0, 1, 2 ..., by the Euler-Maclaurin formula.

    It is infinite at s = 1 and at integers q <= 0. It is nan for s < 1, and for q < 0 unless s is
    an integer.

    >>> zeta(np.array([2.0]), np.array([1.0])).round(9)  # pi**2 / 6
    array([1.64493407])
    """
    dtype = s.dtype
    s, q = (np.array(x, np.float64) for x in np.broadcast_arrays(s, q))
    pole = (q <= 0) & (q == np.floor(q))
    outside = (s < 1) | ((q < 0) & ~pole & (s != np.floor(s)))
    start, total = np.where(pole, 1.0, q), np.zeros_like(q)
    for _ in range(10 + int(np.clip(-np.where(np.isfinite(start), start, 0).min(initial=0), 0,
                                    1e6))):
        total += np.where(start < 10, start**-s, 0.0)
        start = np.where(start < 10, start + 1, start)
    total += start ** (1 - s) / (s - 1) + 0.5 * start**-s
    term = s * start ** (-s - 1)
    for j, b in enumerate(BERNOULLI, 1):
        total += b / math.factorial(2 * j) * term
        term = term * (s + 2 * j - 1) * (s + 2 * j) / (start * start)
    total = np.where(np.isposinf(q) | np.isposinf(s), np.where(q > 1, 0.0, total), total)
    result = np.where(outside, np.nan, np.where(pole | (s == 1), np.inf, total))
    return result.astype(dtype)
