"""Checks of arguments that many ops share, with PyTorch's errors."""

from ..dtypes import type_name
from ..shapes import wrap_dim


def require_one_dtype(message, *arrays):
    """Raise a `RuntimeError` with the names of the dtypes in its message unless they are equal."""
    for array in arrays:
        if array.dtype != arrays[0].dtype:
            raise RuntimeError(message.format(*[type_name(a.dtype) for a in arrays]))


def size_at(shape, dim):
    """Return the size of a dimension; `IndexError` if there is none, as PyTorch's `size` raises."""
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[wrap_dim(dim, len(shape))]
