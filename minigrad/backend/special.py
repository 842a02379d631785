"""Special functions that NumPy lacks: the error function, the gamma function, their derivatives.

Everything is computed in float64 and returned in the dtype of the argument, except that `erf`,
`lgamma` and `digamma` use other formulas for float32.  The two polynomials are Chebyshev
expansions, computed with 40 digits by mpmath and cut off below 1e-16.

Source: https://dlmf.nist.gov, chapters 5 (gamma), 7 (erf) and 25.11 (Hurwitz zeta)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import special_float32
from .float_errors import ignoring_float_errors
from .special_float32 import polynomial

Array = Any

#: erf(x) / x as a polynomial of x**2, for |x| < 1; highest power first.
ERF = (
    5.958930743134941e-11, -1.1373902296430911e-09, 1.4660051998394848e-08,
    -1.6350354461959655e-07, 1.6461004480962034e-06, -1.4925595519506043e-05,
    0.00012055331122299266, -0.0008548326981129666, 0.005223977624823223,
    -0.026866170645077334, 0.11283791670954882, -0.3761263890318375, 1.1283791670955126,
)

#: x exp(x**2) erfc(x) as a polynomial of (248 / (x + 3) - 35) / 27, for 1 <= x <= 28.
ERFC = (
    1.4397185945776393e-12, -3.0283971740218e-12, -2.085116642277422e-11, 5.565677941554824e-11,
    2.164793782713935e-10, -7.197987078427296e-10, -2.4129498467198297e-09,
    8.453393069138448e-09, 3.3394910159961074e-08, -8.808458511992862e-08,
    -5.608013412081059e-07, 4.270510676901932e-07, 9.79734360289385e-06, 2.0755073552108096e-05,
    -0.0001046414691936085, -0.0009600926042691833, -0.004059375563041084,
    -0.011787398100986626, -0.025438183395042925, -0.04018624890622547, -0.03853050671510868,
    0.5486196533621273,
)

#: The Bernoulli numbers B2, B4 ... B20.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
             43867 / 798, -174611 / 330)

#: From here on, asymptotic expansions up to B20 are exact to about the last bit.
FAR = 10.0


def in_float64(compute: Callable[..., Array]) -> Callable[..., Array]:
    """Make a function of float64 arrays accept arrays of any floating dtype, including 0-d ones."""

    @ignoring_float_errors  # a `where` computes both branches everywhere
    def function(x: Array, *args: Any) -> Array:
        x = np.asarray(x)
        wide = np.atleast_1d(x.astype(np.float64, copy=False))
        result = compute(wide, *args).astype(x.dtype, copy=False)
        return result if x.ndim else result.reshape(())

    function.__name__ = function.__qualname__ = compute.__name__
    function.__doc__ = compute.__doc__
    return function


def erfc_above_one(x: Array) -> Array:
    """Return erfc(x) for x >= 1."""
    x = np.minimum(x, 28.0)  # erfc underflows at 27
    # Squaring x exactly in two parts keeps the error of exp(-x**2) from growing with x.
    head = np.trunc(x * 16) / 16
    decay = np.exp(-head * head) * np.exp((head - x) * (head + x))
    return decay * polynomial(ERFC, (248 / (x + 3) - 35) / 27) / x


def erf(x: Array) -> Array:
    """Return the error function, 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    >>> erf(np.array(0.5)).round(12)
    np.float64(0.520499877813)
    """
    x = np.asarray(x)
    return _erf(x) if x.dtype == np.float64 else special_float32.erf(x)


@in_float64
def _erf(x: Array) -> Array:
    """Return the error function of float64 arrays."""
    result = np.empty_like(x)
    flat, room = x.ravel("K"), result.ravel("K")  # `room` is a view of the result
    small = np.abs(flat) < 1
    # Positions are twice as fast as masks, whose branches a processor cannot predict.
    inside, outside = np.flatnonzero(small), np.flatnonzero(~small)
    near, far = flat.take(inside), flat.take(outside)
    room[inside] = near * polynomial(ERF, near * near)
    room[outside] = np.copysign(1 - erfc_above_one(np.abs(far)), far)
    return result


@in_float64
def erfc(x: Array) -> Array:
    """Return 1 - erf(x), without cancellation for large x.

    >>> erfc(np.array([0.0, 30.0]))
    array([1., 0.])
    """
    result = np.empty_like(x)
    small = np.abs(x) < 1
    near = x[small]
    result[small] = 1 - near * polynomial(ERF, near * near)
    far = x[~small]
    tail = erfc_above_one(np.abs(far))
    result[~small] = np.where(far < 0, 2 - tail, tail)
    return result


@in_float64
def erfinv(y: Array) -> Array:
    """Return x with erf(x) = y: infinite at -1 and 1, NaN beyond.

    It takes a guess that is good to three digits (Winitzki), and three steps of Halley's method,
    each of which triples the digits.

    >>> erfinv(erf(np.array([0.25, 3.0]))).round(9)
    array([0.25, 3.  ])
    """
    size = np.abs(y)
    log = np.log1p(-size * size)
    a = 2 / (math.pi * 0.147) + log / 2
    x = np.sqrt(-log / 0.147 / (np.sqrt(a * a - log / 0.147) + a))
    for _ in range(3):
        # Near 1, subtract the complements: that is exact.
        off = np.where(size < 0.5, erf(x) - size, (1 - size) - erfc(x))
        step = off * (math.sqrt(math.pi) / 2) * np.exp(x * x)
        x = x - step / (1 + x * step)
    x[size == 1] = np.inf
    return np.copysign(x, y)


_log_gamma = np.frompyfunc(math.lgamma, 1, 1)


def lgamma(x: Array) -> Array:
    """Return the logarithm of |Gamma(x)|; infinite at 0 and the negative integers.

    >>> lgamma(np.array([1.0, 4.0, -1.0])).round(6)
    array([0.      , 1.791759,      inf])
    """
    x = np.asarray(x)
    return _lgamma(x) if x.dtype == np.float64 else special_float32.lgamma(x)


@in_float64
def _lgamma(x: Array) -> Array:
    """Return log |Gamma(x)| of float64 arrays."""
    pole = (x <= 0) & (x == np.floor(x))
    result = np.asarray(_log_gamma(np.where(pole, 1.0, x)), np.float64)
    result[pole] = np.inf
    return result


def digamma(x: Array) -> Array:
    """Return the derivative of log Gamma.

    >>> digamma(np.array(1.0)).round(12)  # minus Euler's constant
    np.float64(-0.577215664902)
    """
    x = np.asarray(x)
    return _digamma(x) if x.dtype == np.float64 else special_float32.digamma(x)


@in_float64
def _digamma(x: Array) -> Array:
    """Return the derivative of log Gamma of float64 arrays."""
    reflected = x < 0
    z = np.where(reflected, 1 - x, x)
    below = np.zeros_like(z)  # sum of 1 / z over the steps up to FAR
    while (near := z < FAR).any():
        below[near] += 1 / z[near]
        z = np.where(near, z + 1, z)
    square = 1 / (z * z)
    series = [b / (2 * j) for j, b in enumerate(BERNOULLI, 1)][::-1]
    result = np.log(z) - 0.5 / z - polynomial((*series, 0.0), square) - below
    # tan is periodic, and taking the fraction first keeps it exact for large x.
    result -= np.where(reflected, math.pi / np.tan(math.pi * (x - np.trunc(x))), 0)
    result[reflected & (x == np.floor(x))] = np.nan
    zero = x == 0
    result[zero] = -np.copysign(np.inf, x[zero])
    return result


@in_float64
def polygamma(x: Array, n: int) -> Array:
    """Return the derivative of order `n` of digamma, n >= 1.

    >>> polygamma(np.array(1.0), 1).round(12)  # pi**2 / 6
    np.float64(1.644934066848)
    """
    if n == 1:
        reflected = x < 0
        result = hurwitz_zeta(2, np.where(reflected, 1 - x, x))
        sine = np.sin(math.pi * (x - np.trunc(x)))
        result = np.where(reflected, (math.pi / sine) ** 2 - result, result)
    else:
        result = (-1) ** (n + 1) * math.factorial(n) * hurwitz_zeta(n + 1, x)
    return result


def hurwitz_zeta(s: int, q: Array) -> Array:
    """Return the sum of (q + k)**-s over k = 0, 1, 2 ..., by the Euler-Maclaurin formula.

    Below zero the sum is composed of three other sums, because it would take too many steps.
    """
    q = q + 0.0  # turns a negative zero into zero
    if (below := q < 0).any():
        whole = np.where(below, np.floor(q), 0.0)
        part = np.where(below & np.isfinite(q), q - whole, 0.0)  # in [0, 1)
        passed = hurwitz_zeta(s, 1 - part) - hurwitz_zeta(s, 1 - part - whole)
        return hurwitz_zeta(s, np.where(below, part, q)) + np.where(below, (-1) ** s * passed, 0.0)
    total = np.zeros_like(q)
    while (near := q < FAR).any():
        total[near] += q[near] ** -s
        q = np.where(near, q + 1, q)
    total += q ** (1 - s) / (s - 1) + 0.5 * q**-s
    term = s * q ** (-s - 1)  # s (s + 1) ... (s + 2j - 2) q**(-s - 2j + 1)
    for j, b in enumerate(BERNOULLI, 1):
        total += b / math.factorial(2 * j) * term
        term = term * (s + 2 * j - 1) * (s + 2 * j) / (q * q)
    return total
