"""Multiply-add with a single rounding, and the float32 log, sin and cos built on it.

PyTorch's normal numbers use vector code that evaluates the Cephes polynomials with the processor's
fused multiply-add. NumPy has no such instruction, so these functions round where it rounds. That
way the results agree to the last bit and are the same on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# The coefficients of Cephes' logf, sinf and cosf, highest power first.
_LOG = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
# log(2) and pi / 4 in parts, since the leading parts times small integers are exact.
_LOG_2 = (0.693359375, -2.12194440e-4)
_QUARTER_PI = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)


def multiply_add(values: Array, factor: Any, term: Any) -> Array:
    """Return values * factor + term with one rounding, in float32 or float64 like `values`.

    `factor` and `term` are scalars or arrays of that dtype; in float64, `factor` is a scalar.

    >>> multiply_add(np.float32([3]), np.float32(2), np.float32(1))
    array([7.], dtype=float32)
    """
    if values.dtype == np.float32:
        # The product of two float32 numbers is exact in float64.
        exact: Array = np.multiply(values, factor, dtype=np.float64)
        exact += term
        return exact.astype(np.float32)
    product: Array = values * factor
    # Dekker: if both factors are split into halves, the product's rounding error is a sum of exact
    # products. Knuth: the rounding error of a sum is exact as well.
    high, factor_high = _upper_half(values), _upper_half(np.asarray(factor))
    low, factor_low = values - high, factor - factor_high
    error = high * factor_high - product + high * factor_low + low * factor_high
    error += low * factor_low
    total: Array = product + term
    shifted = total - product
    error += (product - (total - shifted)) + (term - shifted)
    total += error
    return total


def log(x: Array) -> Array:
    """Return the natural logarithm of a float32 array of normal positive numbers.

    >>> log(np.float32([1, 0.5]))
    array([ 0.       , -0.6931472], dtype=float32)
    """
    mantissa, whole = np.frexp(x)
    # The series converges around 1, so take the mantissa from [sqrt(1/2), sqrt(2)).
    small = mantissa < np.float32(0.5**0.5)
    x = mantissa * (small + np.float32(1)) - np.float32(1)
    exponent = (whole - small).astype(np.float32)
    square = x * x
    series = _polynomial(_LOG, x) * x
    series = multiply_add(series, square, exponent * np.float32(_LOG_2[1]))
    series = multiply_add(square, np.float32(-0.5), series)
    return multiply_add(exponent, np.float32(_LOG_2[0]), x + series)


def sincos(x: Array) -> tuple[Array, Array]:
    """Return the sine and cosine of a float32 array of numbers from 0 to a few turns.

    >>> sincos(np.float32([0]))
    (array([0.], dtype=float32), array([1.], dtype=float32))
    """
    octant = (x * np.float32(4 / np.pi)).astype(np.int32)
    quadrant = (octant + 1) >> 1
    turned = (2 * quadrant).astype(np.float32)
    for part in _QUARTER_PI:
        x = multiply_add(turned, np.float32(-part), x)
    square = x * x
    sine = multiply_add(_polynomial(_SIN, square) * square, x, x)
    cosine = _polynomial(_COS, square) * square
    cosine = multiply_add(cosine, square, square * np.float32(-0.5)) + np.float32(1)
    # Swap and negate by bits: a branch for each element takes ten times as long.
    bits, other = sine.view(np.int32), cosine.view(np.int32)
    difference = (bits ^ other) & -(quadrant & 1)
    bits ^= difference
    other ^= difference
    bits ^= (quadrant & 2) << 30
    other ^= (quadrant + 1 & 2) << 30
    return sine, cosine


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    """Evaluate a polynomial in float32, highest power first, with one rounding for each power."""
    factor, value = x.astype(np.float64), np.full_like(x, coefficients[0])
    exact = value.astype(np.float64)
    for coefficient in coefficients[1:]:
        exact *= factor  # the product of two float32 numbers is exact in float64
        exact += np.float32(coefficient)
        value[...] = exact
        exact[...] = value
    return value


def _upper_half(values: Array) -> Array:
    """Return float64 `values` with the lower 27 of their 53 bits cleared."""
    return (values.view(np.uint64) & np.uint64(2**64 - 2**27)).view(np.float64)
