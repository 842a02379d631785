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


def at_each_run(function: Any) -> Any:
    """Make a function that reads values a single step of the programs that compiled functions run.

    Each run calls it with the values of that run, so it may check them, branch on them or draw as
    many random numbers as they ask for.  It returns `None`, a tensor or a tuple of tensors, in new
    memory and without a history.  Their shapes must follow from the shapes of its arguments.

    >>> @at_each_run
    ... def check(x):
    ...     if x < 0:
    ...         raise ValueError("negative")
    >>> check(1)
    """

    @functools.wraps(function)
    def run(*args):
        if _state.observers.count and (recording := _state.program.get()) is not None:
            return recording.at_each_run(function, args)
        return function(*args)

    return run
