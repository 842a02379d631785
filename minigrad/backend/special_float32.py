"""The error function, log Gamma and its slope for float32, in blocks that stay in the cache.

`special.py` computes digits that float32 can't hold, in four to fifty times as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .float_errors import ignoring_float_errors

Array = np.ndarray[Any, np.dtype[Any]]

#: erf(x) / x - 1 as a polynomial of x**2, for |x| < 0.94; highest power first.
_NEAR = (
    -0.0005907979211769998, 0.004976837430149317, -0.026755440980196, 0.11281507462263107,
    -0.37612465023994446, 0.12837915122509003,
)
#: log(erfc(x)) as a polynomial of x, for 0.94 <= x <= 4; highest power first.
_FAR = (
    -2.1389916582847945e-05, 0.00043786820606328547, -0.004187552258372307, 0.0251628328114748,
    -0.10834721475839615, -0.6332858800888062, -1.1295450925827026, 0.00018097339489031583,
)
#: Four arrays of this size, in float32, take 512 KiB.
_BLOCK = 32768
#: The bit of a float32 number that holds its sign.
_SIGN = np.int32(-2**31)


def erf(x: Array) -> Array:
    """Return the error function of an array of float32 or float16, in the dtype of the array.

    Its largest error is 1.4 units in the last place, measured on every float32 number.

    >>> erf(np.array([0.5, -8.0], np.float32)).round(5)
    array([ 0.5205, -1.    ], dtype=float32)
    """
    result = np.empty_like(x, dtype=np.float32)
    flat, room = x.ravel("K"), result.ravel("K")  # `room` is a view of the result
    size = min(_BLOCK, flat.size)
    buffers = np.empty((2, size), np.float32)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start:start + _BLOCK].astype(np.float32, copy=False)
        _erf_of_block(block, room[start:start + _BLOCK], *buffers[:, :block.size])
    return result.astype(x.dtype, copy=False)


@ignoring_float_errors  # exp underflows
def _erf_of_block(x: Array, result: Array, a: Array, other: Array) -> None:
    """Write erf(x) to `result`, with two buffers of the same shape.

    Each of the two formulas gives less where the other holds, so the maximum chooses. `fmax` also
    ignores the NaN that the first one gives for an infinite x.
    """
    np.abs(x, out=a)
    np.multiply(a, a, out=result)
    polynomial(_NEAR, result, out=other)
    other *= a
    other += a  # the sum of a large exact part and a small one is rounded only once
    polynomial(_FAR, a, out=result)
    np.subtract(np.float32(1), np.exp(result, out=result), out=result)
    np.fmax(result, other, out=result)
    # In two passes over the bits, since `copysign` takes four times as long as one.
    signs = np.bitwise_and(x.view(np.int32), _SIGN, out=a.view(np.int32))
    np.bitwise_or(result.view(np.int32), signs, out=result.view(np.int32))


def polynomial(coefficients: tuple[float, ...], x: Array, out: Array | None = None) -> Array:
    """Evaluate a polynomial of a floating array, highest power first, by Horner's rule.

    >>> polynomial((1, 0, -1), np.array([2.0, 3.0]))
    array([3., 8.])
    """
    number = x.dtype.type
    value: Array = np.multiply(x, number(coefficients[0]), out=out)
    for c in coefficients[1:-1]:
        value += number(c)
        value *= x
    value += number(coefficients[-1])
    return value


#: Stirling's series, B(2k) / (2k (2k - 1)), highest power first; from 7 on, it is exact in float32.
_STIRLING = (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
#: log(Gamma(1 + d)) as a polynomial of d, by Riemann's zeta; highest power first.
_AROUND_ONE = (0.16955717699740818, -0.20738555102867398, 0.27058080842778454,
               -0.4006856343865314, 0.8224670334241132, -0.5772156649015329, 0.0)
_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


def _in_blocks(compute: Callable[[Array], Array], x: Array) -> Array:
    """Apply a function of float64 arrays to one block after another."""
    result = np.empty_like(x)
    flat, room = x.ravel("K"), result.ravel("K")  # `room` is a view of the result
    for start in range(0, flat.size, _BLOCK):
        room[start:start + _BLOCK] = compute(flat[start:start + _BLOCK].astype(np.float64))
    return result


@ignoring_float_errors  # poles, and the branch of `where` that isn't taken
def lgamma(x: Array) -> Array:
    """Return the logarithm of |Gamma(x)| of an array of float32 or float16, in its dtype.

    Below one half it is reflected: Gamma(x) Gamma(1 - x) = pi / sin(pi x).

    >>> lgamma(np.array([4.0, -0.5], np.float32)).round(5)
    array([1.79176, 1.26551], dtype=float32)
    """
    def compute(block: Array) -> Array:
        low = block < 0.5
        value = _lgamma_from_half(np.where(low, 1 - block, block))
        if low.any():
            part = block[low]
            sine = np.abs(np.sin(math.pi * (part - np.round(part))))
            value[low] = math.log(math.pi) - np.log(sine) - value[low]
        return np.where(np.isinf(block), np.inf, value)

    return _in_blocks(compute, x)


def _lgamma_from_half(x: Array) -> Array:
    """Return log(Gamma(x)) for x >= 0.5: Stirling's series at x + 7, minus the steps up to it."""
    small = x < 7
    product = x.copy()
    for k in range(1, 7):
        product *= x + k
    z = np.where(small, x + 7, x)
    inverse = 1 / z
    value: Array = (z - 0.5) * np.log(z) - z + _HALF_LOG_2_PI
    value += polynomial(_STIRLING, inverse * inverse) * inverse
    value -= np.log(np.where(small, product, 1))
    for zero in (1, 2):  # near which the difference would leave no digits
        if (near := np.abs(x - zero) < 0.02).any():
            d = x[near] - zero
            value[near] = polynomial(_AROUND_ONE, d) + (np.log1p(d) if zero == 2 else 0)
    return value


#: The series of digamma, -B(2k) / 2k, highest power first.
_SLOPES = (1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12, 0.0)


@ignoring_float_errors
def digamma(x: Array) -> Array:
    """Return the derivative of log Gamma of an array of float32 or float16, in its dtype.

    Below zero it is reflected: digamma(1 - x) = digamma(x) + pi / tan(pi x).

    >>> digamma(np.array([1.0, -0.5], np.float32)).round(5)
    array([-0.57722,  0.03649], dtype=float32)
    """
    def compute(block: Array) -> Array:
        low = block < 0
        value = _digamma_of_positive(np.where(low, 1 - block, block))
        if low.any():
            part = block[low]
            value[low] -= math.pi / np.tan(math.pi * (part - np.trunc(part)))
            value[low & (block == np.floor(block))] = np.nan
        zero = block == 0
        value[zero] = -np.copysign(np.inf, block[zero])
        return value

    return _in_blocks(compute, x)


def _digamma_of_positive(x: Array) -> Array:
    """Return digamma(x) for x > 0, by its series at x + 7 and seven steps back."""
    z = np.where(x < 7, x + 7, x)
    square = 1 / (z * z)
    value: Array = np.log(z) - 0.5 / z - polynomial(_SLOPES, square)
    below = sum(1 / (x + k) for k in range(7))
    return value - np.where(x < 7, below, 0)
