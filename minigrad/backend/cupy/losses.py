"""Fused kernels of the negative log likelihood: two launches each for loss and gradient, or one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import cupy
import numpy as np

from .. import kernels_loss
from .launch import THREADS, argument, each, kernel
from .layout import dense, wide_type
from .place import capturing

Array = Any

#: The rows of a block, and the maximum number of blocks; if there are several, a second launch adds
#: their sums.
ROWS, PARTS = 4 * THREADS, 128


class Losses:
    """`nll_loss` and its gradient, mixed into the backend."""

    def nll_loss(self, x: Array, target: Array, weight: Array | None, reduction: str,
                 ignore_index: int) -> Array:
        """Return the loss of (N, C, *S) and (N, *S); raise `IndexError` for invalid classes.

        The kernels ignore such targets, so that they never read out of bounds.  While a graph is
        captured no value can be read, so there is no error.
        """
        if x.dtype.kind != "f":
            return kernels_loss.nll_loss(self, x, target, weight, reduction, ignore_index)
        wrong = None if capturing() else cupy.zeros((), np.bool_)
        result = nll_launched(dense(x), target, weight, reduction, ignore_index, wrong)
        if wrong is not None and bool(wrong):
            classes, _ = classes_of(x.shape)
            kernels_loss.check_classes(self, target, classes, ignore_index)
        return result

    def nll_gradient(self, g: Array, target: Array, weight: Array | None, sizes: Sequence[int],
                     reduction: str, ignore_index: int) -> Array:
        """Return the gradient of `nll_loss` with respect to `x` of shape `sizes`."""
        if g.dtype.kind != "f":
            return kernels_loss.nll_gradient(self, g, target, weight, sizes, reduction,
                                             ignore_index)
        classes, inner = classes_of(sizes)
        target, weight = classes_as_read(target), None if weight is None else dense(weight)
        result, sums, rows = cupy.empty(tuple(sizes), g.dtype), None, 0
        if reduction == "mean" and target.size <= ROWS:
            rows = target.size
        elif reduction == "mean":
            sums = sums_of(g.dtype, None, target, weight, None, None, classes, inner, ignore_index)
        if result.size:
            blocks = min(-(-result.size // THREADS), 65535)
            launch_with_room("nll_gradient", g.dtype, blocks, dense(g), target, weight, sums,
                             result, result.size, classes, inner, ignore_index,
                             0 if sums is None else len(sums), rows,
                             np.int32(reduction == "none"))
        return result


def nll_launched(x: Array, target: Array, weight: Array | None, reduction: str,
                 ignore_index: int, wrong: Array | None) -> Array:
    """Return the loss, and set `wrong`, a 0-d bool, if a target is not a valid class."""
    classes, inner = classes_of(x.shape)
    target, weight = classes_as_read(target), None if weight is None else dense(weight)
    if reduction == "none":
        result = cupy.empty(target.shape, x.dtype)
        each("nll_each", x.dtype, target.size, x, target, weight, result, wrong, target.size,
             classes, inner, ignore_index)
        return result
    result, mean = cupy.empty((), x.dtype), reduction == "mean"
    several = target.size > ROWS
    sums = sums_of(x.dtype, x, target, weight, None if several else result, wrong, classes,
                   inner, ignore_index, mean)
    if several:
        launch_with_room("nll_total", x.dtype, 1, sums, result, len(sums), np.int32(mean))
    return result


def classes_of(sizes: Sequence[int]) -> tuple[int, int]:
    """Return the number of classes and the number of positions in each sample."""
    dim = min(len(sizes) - 1, 1)
    return sizes[dim], prod(sizes[dim + 1:])


def classes_as_read(target: Array) -> Array:
    """Return targets in the form that the kernels read."""
    return dense(target.astype(np.int64, copy=False))


def sums_of(dtype: Any, x: Array | None, target: Array, weight: Array | None,
            result: Array | None, wrong: Array | None, classes: int, inner: int, ignore_index: int,
            mean: bool = False) -> Array:
    """Return, for each part of the rows, the sums of losses and of weights.

    If there is only one part, write the loss, or its `mean`, to `result`.
    """
    parts = max(1, min(PARTS, -(-target.size // ROWS)))
    sums = cupy.empty((parts, 2), wide_type(dtype))
    launch_with_room("nll_sums", dtype, parts, x, target, weight, sums, result, wrong,
                     target.size, classes, inner, ignore_index, parts, np.int32(mean))
    return sums


def launch_with_room(name: str, dtype: Any, blocks: int, *args: Any) -> None:
    """Launch `blocks` blocks, each with shared memory for its threads' sum."""
    kernel(name, dtype)((blocks,), (THREADS,), tuple(map(argument, args)),
                        shared_mem=THREADS * wide_type(dtype).itemsize)
