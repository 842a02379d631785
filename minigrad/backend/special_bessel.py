"""Bessel functions and modified ones, of orders 0 and 1, in float64.

Close to zero they are power series, far away asymptotic expansions. In between, integrals over a
period are sums at equal steps, which are exact to the last bits for smooth periodic functions.

Source: https://dlmf.nist.gov, chapter 10: 10.2.2, 10.8, 10.9.1, 10.17.3, 10.23.15, 10.25.2, 10.31,
10.32.8 and 10.40
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .special import in_float64

Array = Any

EULER = 0.5772156649015329
#: Series below the first bound, expansions from the second on.
NEAR, FAR = 5.0, 25.0
ANGLES = 2 * math.pi * np.arange(128) / 128


def by_range(x: Array, near: Any, between: Any, far: Any, bounds: tuple[float, float]) -> Array:
    """Compute each element with the formula for its range; nan stays."""
    result = np.full_like(x, np.nan)
    low, high = bounds
    for where, formula in ((x < low, near), ((low <= x) & (x < high), between), (x >= high, far)):
        if where.any():
            result[where] = formula(x[where])
    return result


def power_series(x: Array, order: int, sign: int, weight: Any = None) -> Array:
    """Sum weight(k) (sign x**2 / 4)**k / (k! (k + order)!) times (x / 2)**order."""
    quarter, term, total = sign * x * x / 4, (x / 2) ** order, np.zeros_like(x)
    for k in range(75):
        total += term if weight is None else term * weight(k)
        term = term * quarter / ((k + 1) * (k + 1 + order))
    return total


def harmonic(k: int) -> float:
    """Return 1 + 1/2 + ... + 1/k."""
    return math.fsum(1 / j for j in range(1, k + 1))


def both_harmonics(k: int) -> float:
    """Return digamma(k + 1) + digamma(k + 2)."""
    return 2 * harmonic(k) + 1 / (k + 1) - 2 * EULER


def expansion(x: Array, order: int, sign: int) -> tuple[Array, Array]:
    """Return the even and the odd terms of the expansion in a_k(order) / x**k."""
    even, odd, term = np.ones_like(x), np.zeros_like(x), np.ones_like(x)
    for k in range(1, 24):
        term = term * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        part = term * (sign ** (k // 2))
        if k % 2:
            odd += part
        else:
            even += part
    return even, odd


def hankel(x: Array, order: int, second: bool) -> Array:
    """Return J or, if `second`, Y far from zero."""
    even, odd = expansion(x, order, -1)
    # cos(x - c) from cos and sin of x, which NumPy reduces exactly
    turn = math.pi * (order / 2 + 0.25)
    cosine = np.cos(x) * math.cos(turn) + np.sin(x) * math.sin(turn)
    sine = np.sin(x) * math.cos(turn) - np.cos(x) * math.sin(turn)
    wave = sine * even + cosine * odd if second else cosine * even - sine * odd
    return np.sqrt(2 / math.pi / x) * np.where(np.isinf(x), 0.0, wave)


def by_angles(x: Array, order: int) -> Array:
    """Return J of an order with Bessel's integral."""
    return np.cos(order * ANGLES - x[..., None] * np.sin(ANGLES)).mean(-1)


def bessel_j(x: Array, order: int) -> Array:
    """Return J, even in x for order 0 and odd for order 1."""
    value = by_range(abs(x), lambda x: power_series(x, order, -1), lambda x: by_angles(x, order),
                     lambda x: hankel(x, order, False), (NEAR, FAR))
    return np.where(x < 0, -value, value) if order else value


def bessel_y(x: Array, order: int) -> Array:
    """Return Y: minus infinity at zero, nan below."""

    def near(x: Array) -> Array:
        log = np.log(x / 2)
        if order:
            series = power_series(x, 1, -1, both_harmonics)
            return (2 * log * power_series(x, 1, -1) - 2 / x - series) / math.pi
        series = power_series(x, 0, -1, harmonic)
        return 2 / math.pi * ((log + EULER) * power_series(x, 0, -1) - series)

    def between(x: Array) -> Array:
        log, js = np.log(x / 2) + EULER, [by_angles(x, n) for n in range(64)]
        if order:
            total = sum((-1) ** k / k * (js[2 * k - 1] - js[2 * k + 1]) for k in range(1, 32))
            return 2 / math.pi * (log * js[1] - js[0] / x + total)
        total = sum((-1) ** k / k * js[2 * k] for k in range(1, 32))
        return 2 / math.pi * (log * js[0] - 2 * total)

    value = by_range(x, near, between, lambda x: hankel(x, order, True), (NEAR, FAR))
    return np.where(x == 0, -np.inf, np.where(x < 0, np.nan, value))


def scaled_i(x: Array, order: int) -> Array:
    """Return exp(-|x|) I(x)."""

    def far(x: Array) -> Array:
        even, odd = expansion(x, order, 1)
        return (even - odd) / np.sqrt(2 * math.pi * x)

    def near(x: Array) -> Array:
        return np.exp(-x) * power_series(x, order, 1)

    value = by_range(abs(x), near, near, far, (FAR, FAR))
    return np.where(x < 0, -value, value) if order else value


def scaled_k(x: Array, order: int) -> Array:
    """Return exp(x) K(x): infinite at zero, nan below."""

    def near(x: Array) -> Array:
        log = np.log(x / 2)
        if order:
            half = power_series(x, 1, 1, both_harmonics) / 2
            return np.exp(x) * (1 / x + log * power_series(x, 1, 1) - half)
        series = power_series(x, 0, 1, harmonic)
        return np.exp(x) * (series - (log + EULER) * power_series(x, 0, 1))

    def between(x: Array) -> Array:
        t = np.arange(65) / 16
        terms = np.exp(x[..., None] * (1 - np.cosh(t))) * np.cosh(order * t)
        return (terms.sum(-1) - terms[..., 0] / 2) / 16

    def far(x: Array) -> Array:
        even, odd = expansion(x, order, 1)
        return (even + odd) * np.sqrt(math.pi / (2 * x))

    value = by_range(x, near, between, far, (2.0, FAR))
    return np.where(x == 0, np.inf, np.where(x < 0, np.nan, value))


bessel_j0 = in_float64(lambda x: bessel_j(x, 0))
bessel_j1 = in_float64(lambda x: bessel_j(x, 1))
bessel_y0 = in_float64(lambda x: bessel_y(x, 0))
bessel_y1 = in_float64(lambda x: bessel_y(x, 1))
i0 = in_float64(lambda x: np.exp(abs(x)) * scaled_i(x, 0))
i0e = in_float64(lambda x: scaled_i(x, 0))
i1 = in_float64(lambda x: np.exp(abs(x)) * scaled_i(x, 1))
i1e = in_float64(lambda x: scaled_i(x, 1))
k0 = in_float64(lambda x: np.where(np.isposinf(x), 0.0, np.exp(-x) * scaled_k(x, 0)))
k0e = in_float64(lambda x: scaled_k(x, 0))
k1 = in_float64(lambda x: np.where(np.isposinf(x), 0.0, np.exp(-x) * scaled_k(x, 1)))
k1e = in_float64(lambda x: scaled_k(x, 1))


@in_float64
def spherical_bessel_j0(x: Array) -> Array:
    """Return sin(x) / x.

    >>> spherical_bessel_j0(np.array([0.0, math.pi])).round(12)
    array([1., 0.])
    """
    return np.where(x == 0, 1.0, np.where(np.isinf(x), 0.0, np.sin(x) / np.where(x == 0, 1, x)))


@in_float64
def airy_ai(x: Array) -> Array:
    """Return the Airy function Ai: an integral, and an expansion far to the left.

    Source: https://dlmf.nist.gov, 9.5.4 and 9.7.9

    >>> airy_ai(np.array([0.0, 1.0])).round(12)
    array([0.355028053888, 0.135292416313])
    """
    return by_range(x, airy_left, airy_integral, lambda x: np.zeros_like(x), (-10.0, 110.0))


def airy_integral(x: Array) -> Array:
    """Sum exp(i (z**3 / 3 + x z)) / (2 pi) at equal steps of the line z = s + i height.

    The heights keep the summands about as small as the sum, so digits aren't lost.
    """
    height = np.where(x > 1, np.sqrt(np.maximum(x, 1)), 2.5 / np.maximum(-x, 4))
    step = 0.02 / np.sqrt(height)
    s = np.arange(340) * step[..., None]
    decay = np.exp(-height[..., None] * s * s)
    terms = decay * np.cos(s * s * s / 3 + (x - height * height)[..., None] * s)
    total = (terms.sum(-1) - terms[..., 0] / 2) * step / math.pi
    return total * np.exp(height**3 / 3 - x * height)


def airy_left(x: Array) -> Array:
    """Return the expansion of Ai for large negative numbers."""
    depth = -x
    zeta = 2 / 3 * depth**1.5
    even, odd, term = np.ones_like(x), np.zeros_like(x), np.ones_like(x)
    for k in range(1, 32):
        term = term * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1)) / zeta
        sign = -1 if k % 4 >= 2 else 1
        if k % 2:
            odd += sign * term
        else:
            even += sign * term
    angle = zeta - math.pi / 4
    return (np.cos(angle) * even + np.sin(angle) * odd) / (math.sqrt(math.pi) * depth**0.25)
