"""The bases of reductions: their dimensions, and the dtypes in which they accumulate."""

from ... import dtypes
from ...dtypes import type_name
from ...op.declaration import Op, unary_samples
from ...shapes import reduced, scalar, wrap_dims


def axes(array, dim):
    """Return `dim` as NumPy's `axis`: a tuple of nonnegative dimensions, or `None` for all."""
    return None if dim is None else wrap_dims(dim, array.ndim)


def numpy_type(dtype):
    """Return the array library's type for a dtype; `None` stays `None`."""
    return None if dtype is None else dtypes.numpy_of(dtype)


def accumulation_dtype(array, dtype):
    """Return the dtype in which a sum or product accumulates: int64 for integers."""
    if dtype is None:
        return None if array.dtype.kind == "f" else dtypes.int64.numpy
    return dtypes.numpy_of(dtype)


def wide(xp, array):
    """Return float16 as float32, in which PyTorch accumulates it, and others unchanged."""
    return array.astype(xp.float32) if array.dtype == xp.float16 else array


def require_float(array, message):
    """Raise `message`, formatted with the dtype's name, unless the array is floating-point."""
    if array.dtype.kind != "f":
        name = type_name(dtypes.from_numpy_dtype(array.dtype))
        raise RuntimeError(message.format(name))


class FullReduction(Op, abstract=True):
    """A reduction of all elements to one."""

    shape, samples = scalar, unary_samples


class Reduction(Op, abstract=True):
    """A reduction along dimensions."""

    kind, shape = "reduction", reduced

    def samples(make):
        yield make(3, 4), 0
        yield make(2, 3, 4), (0, -1)
        yield make(2, 3, 4), (1, 2), True
        yield make(), -1
        yield make(0, 3), 0
