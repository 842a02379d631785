"""Selection of elements by a mask, without branching for each element."""

from typing import Any

import numpy as np

Array = Any

__all__ = ["masked_scale", "positions", "select", "where"]

# For fewer elements the library's own function is faster.
_FEW = 2048
_WHOLE = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}  # integers of an element's size


def select(xp: Any, condition: Array, x: Array, y: Array) -> Array:
    """Return `x` where the bool array `condition` holds, else `y`; the shapes broadcast.

    Both have the same dtype. A mispredicted branch costs a processor as much as twenty additions.
    Therefore large arrays are combined by their bits: with a mask m of all ones or all zeros,
    (x & m) | (y & ~m) is ((x ^ y) & m) ^ y.  This preserves every bit, even of NaN.

    >>> from minigrad.backend import numpy_backend as xp
    >>> select(xp, numpy.array([True, False]), numpy.array([1.0, 2.0]), numpy.array(0.0))
    array([1., 0.])
    """
    return by_bits(xp, condition, x, y) if is_fast(condition, x, y) else xp.where(condition, x, y)


def where(condition: Array, *branches: Any) -> Array:
    """Do what `numpy.where` does; like `select`, without branching for each element.

    >>> where(numpy.array([True, False]), numpy.float32(1), 0)
    array([1., 0.], dtype=float32)
    """
    if len(branches) == 2 and getattr(condition, "size", 0) >= _FEW:
        dtype = np.result_type(*branches)
        try:
            x, y = (np.asarray(each, dtype) for each in branches)
        except OverflowError:  # an integer needs a larger dtype
            return np.where(condition, *branches)
        if condition.dtype == np.bool_ and is_fast(condition, x, y):
            return by_bits(np, condition, x, y)
    return np.where(condition, *branches)


def is_fast(condition: Array, x: Array, y: Array) -> bool:
    """Return whether `by_bits` can select here, faster than the library's own function."""
    whole = x if x.ndim >= y.ndim else y
    return (
        whole.size >= _FEW
        and condition.shape == whole.shape
        and x.dtype.itemsize in _WHOLE
        and x.dtype == y.dtype
        and (x.shape == whole.shape or x.ndim == 0)
        and (y.shape == whole.shape or y.ndim == 0)
    )


def by_bits(xp: Any, condition: Array, x: Array, y: Array) -> Array:
    """Combine the bits of `x` and `y`; see `select`."""
    size = _WHOLE[x.dtype.itemsize]
    result = xp.empty_like(x if x.ndim >= y.ndim else y)
    mask, x_bits, y_bits = xp.negative(condition.view("int8")), x.view(size), y.view(size)
    bits = result.view(size)
    if y.ndim == 0 and not y_bits.item():
        xp.bitwise_and(x_bits, mask, out=bits)
    elif x.ndim == 0 and not x_bits.item():
        xp.bitwise_and(y_bits, xp.invert(mask, out=mask), out=bits)
    else:
        xp.bitwise_xor(x_bits, y_bits, out=bits)
        bits &= mask
        bits ^= y_bits
    return result


def masked_scale(xp: Any, x: Array, mask: Array, scale: float) -> Array:
    """Return `x` times `scale` where the bool array `mask` holds, else zero.

    >>> from minigrad.backend import numpy_backend as xp
    >>> masked_scale(xp, numpy.array([1.0, 2.0]), numpy.array([True, False]), 2.0)
    array([2., 0.])
    """
    return xp.multiply(x, mask) * scale


def positions(array: Array) -> tuple[Array, ...]:
    """Return `array.nonzero()`: the positions of the true elements, an array for each dimension.

    >>> positions(numpy.array([[False, True], [True, True]]))
    (array([0, 1, 1]), array([1, 0, 1]))
    """
    if type(array) is np.ndarray and array.ndim > 1 and array.size >= _FEW:
        # One dimension is searched without branches.
        return np.unravel_index(np.flatnonzero(array), array.shape)
    found: tuple[Array, ...] = array.nonzero()
    return found
