"""Argument checks that many ops share, with PyTorch's error messages."""

import functools
from typing import Any

from .. import _state
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


def at_each_run(check: Any) -> Any:
    """Make a check of values part of every run of a compiled function that calls it.

    >>> @at_each_run
    ... def check(x):
    ...     if x < 0:
    ...         raise ValueError("negative")
    >>> check(1)
    """

    @functools.wraps(check)
    def run(*tensors):
        if _state.observers.count and (recording := _state.program.get()) is not None:
            recording.check(check, tensors)
        else:
            check(*tensors)

    return run
