"""How samples of gamma and beta distributions change with the parameters, in float64.

A sample z of a distribution function F keeps its quantile F(z, a) while the parameter a changes, so
dz/da = -(dF/da) / p(z): implicit reparametrisation.  F is a series of positive terms (DLMF 8.11.4
and 8.17.8), which we differentiate term by term. Near the mean of large parameters we use an
integral to the nearer tail instead, and for huge parameters only the change of mean and width.  The
density p cancels.

Source: https://arxiv.org/abs/1805.08498 (Figurnov, Mohamed, Mnih, 2018)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .special import digamma, in_float64
from .special_gamma import LARGE, legendre_rule

Array = Any

#: From here on, rounding would spoil the integral more than neglecting all but mean and width.
HUGE = 1e10


@in_float64
def standard_gamma_grad(a: Array, x: Array) -> Array:
    """Return dx/da of a sample x of the gamma distribution with shape `a` and rate 1.

    >>> standard_gamma_grad(np.array(1.0), np.array(1.0)).round(12)
    np.float64(1.173563027225)
    """
    x = x.astype(np.float64, copy=False).reshape(a.shape)
    result = np.where(x == 0, 0.0, np.nan)
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    near, huge = (x >= a + 1) | (a > LARGE), a > HUGE
    for chosen, move in (
        (inside & ~near, gamma_series),
        (inside & near & ~huge, gamma_integral),
        (inside & huge, lambda a, x: (1 + x / a) / 2),
    ):
        result[chosen] = move(a[chosen], x[chosen])
    return result


def gamma_series(a: Array, x: Array) -> Array:
    """Return dx/da for x < a + 1; the n-th term is x**n / ((a + 1) ... (a + n))."""
    total, moved = summed(lambda n: x / (a + n), lambda n: -1 / (a + n), x)
    return -x / a * ((np.log(x) - digamma(a + 1)) * total + moved)


def gamma_integral(a: Array, x: Array) -> Array:
    """Return dx/da by integrating the derivative with respect to `a` from x to the nearer tail."""
    tail = tail_of(x, a, np.sqrt(a), (a - 1) / x - 1, 40.0)

    def derivative(t: Array, a: Array, x: Array) -> Array:
        v = (t - x) / x
        density = np.exp((a - 1) * (np.log1p(v) - v) + (a - 1 - x) * v)
        return density * (np.log1p((t - a) / a) + above_digamma(a))

    return integral(derivative, x, tail, a, x)


@in_float64
def dirichlet_grad(x: Array, a: Array, total: Array) -> Array:
    """Return dx/da / (1 - x) of a sample x of the beta distribution Beta(a, total - a).

    >>> dirichlet_grad(np.array(0.5), np.array(1.0), np.array(2.0)).round(12)  # log(2)
    np.float64(0.69314718056)
    """
    a, total = (v.astype(np.float64, copy=False).reshape(x.shape) for v in (a, total))
    b = total - a
    result = np.where(x == 0, 0.0, np.nan)
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(total)
    large = (a > LARGE) & (b > LARGE)
    huge = large & (np.minimum(a, b) > HUGE)
    for chosen, move in (
        (inside & ~large & (x <= 0.5), beta_series_below),
        (inside & ~large & (x > 0.5), beta_series_above),
        (inside & large & ~huge, beta_integral),
        (inside & huge, beta_far),
    ):
        result[chosen] = move(x[chosen], a[chosen], b[chosen])
    return result


def beta_series_below(x: Array, a: Array, b: Array) -> Array:
    """Return dx/da / (1 - x); the n-th factor of the terms is x (a + b + n - 1) / (a + n)."""
    total, moved = summed(lambda n: x * (a + b + n - 1) / (a + n),
                          lambda n: 1 / (a + b + n - 1) - 1 / (a + n), x)
    return -x / a * ((np.log(x) - digamma(a + 1) + digamma(a + b)) * total + moved)


def beta_series_above(x: Array, a: Array, b: Array) -> Array:
    """Return dx/da / (1 - x) from the probability above x."""
    total, moved = summed(lambda n: (1 - x) * (a + b + n - 1) / (b + n),
                          lambda n: 1 / (a + b + n - 1), x)
    return x / b * ((np.log(x) - digamma(a) + digamma(a + b)) * total + moved)


def beta_integral(x: Array, a: Array, b: Array) -> Array:
    """Return dx/da / (1 - x) from the integral from x to the nearer tail."""
    mean = a / (a + b)
    width = np.sqrt(mean * (1 - mean) / (a + b + 1))
    tail = tail_of(x, mean, width, (a - 1) / x - (b - 1) / (1 - x), 0.0)

    def derivative(t: Array, x: Array, a: Array, b: Array) -> Array:
        v, w = (t - x) / x, (x - t) / (1 - x)
        density = np.exp((a - 1) * (np.log1p(v) - v) + (b - 1) * (np.log1p(w) - w)
                         + (t - x) * ((a - 1) / x - (b - 1) / (1 - x)))
        mean = a / (a + b)
        return density * (np.log1p((t - mean) / mean) + above_digamma(a) - above_digamma(a + b))

    return integral(derivative, x, np.minimum(tail, 1), x, a, b) / (1 - x)


def tail_of(x: Array, mean: Array, width: Array, slope: Array, upward: float) -> Array:
    """Return where the relevant tail on x's side of the mean ends, at least 0.

    `slope` is the slope of the log density at x, which tells how fast the density falls far out;
    the upper tail is longer by `upward`.
    """
    side = np.where(x < mean, -1, 1)
    length = np.maximum(side * (mean - x) + 12 * width, 6 * width) + upward * (side > 0)
    return np.maximum(x + side * np.minimum(length, 40 / np.abs(slope)), 0)


def beta_far(x: Array, a: Array, b: Array) -> Array:
    """Return dx/da / (1 - x) for huge parameters, from the change of the mean and the width."""
    total = a + b
    mean = a / total
    return ((1 - mean) / total + (x - mean) / 2 * (1 / a - 3 / total)) / (1 - x)


def above_digamma(a: Array) -> Array:
    """Return log(a) - digamma(a), without cancellation for large a (DLMF 5.11.2)."""
    far = (1 / 2 + (1 / 12 - 1 / (120 * a * a)) / a) / a
    return np.where(a > LARGE, far, np.log(a) - digamma(a))


def summed(factor: Callable[[int], Array], slope: Callable[[int], Array],
           like: Array) -> tuple[Array, Array]:
    """Return the sum of terms 1, t1, t2 ... and the sum of their derivatives.

    `factor(n)` is the ratio of the n-th term to the previous one, `slope(n)` the derivative of the
    ratio's logarithm.
    """
    term, total, moved, log_slope = (np.ones_like(like), np.ones_like(like), np.zeros_like(like),
                                     np.zeros_like(like))
    n, moving = 0, True
    while moving:
        n += 1
        ratio = factor(n)
        term = term * ratio
        log_slope = log_slope + slope(n)
        total += term
        moved += term * log_slope
        moving = bool(((term > total * 1e-17) | (ratio > 1)).any())
    return total, moved


def integral(function: Callable[..., Array], start: Array, end: Array, *args: Array) -> Array:
    """Return the integrals from `start` upward to `end`, or minus those from `end` to `start`.

    Both are Gauss-Legendre sums of function values, times end - start, which has that sign.
    """
    half = (end - start)[:, None] / 2
    nodes, weights = legendre_rule()
    t = start[:, None] + half * (nodes + 1)
    return (function(t, *(arg[:, None] for arg in args)) * half) @ weights
