"""Argument checks that many ops share, with PyTorch's error messages."""

from ..dtypes import type_name
from ..shapes import wrap_dim


def require_one_dtype(message, *arrays):
    """Raise a `RuntimeError` that names the dtypes, unless they are all equal."""
    for array in arrays:
        if array.dtype != arrays[0].dtype:
            raise RuntimeError(message.format(*[type_name(a.dtype) for a in arrays]))


def size_at(shape, dim):
    """Return the size of a dimension; like PyTorch's `size`, raise `IndexError` if it is missing.
    """
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[wrap_dim(dim, len(shape))]
