"""Kernels of the negative log likelihood of classes: (N, C, *S) with targets (N, *S)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Array = Any

__all__ = ["nll_gradient", "nll_loss"]


def class_dim(shape: Sequence[int]) -> int:
    """Return the dimension of the classes: the second, or the only one."""
    return 0 if len(shape) == 1 else 1


def all_count(xp: Any, target: Array, classes: int, ignore_index: int) -> bool:
    """Return whether every target is a valid class other than `ignore_index`."""
    if not target.size:
        return True
    if not xp.may_ask():
        return False  # unknown, since values cannot be read
    # Viewed as unsigned, a negative number is larger than any class, so one comparison checks both.
    unsigned = target if target.dtype == xp.uint8 else target.view(xp.uint64)
    return bool(unsigned.max() < classes) and not (
        0 <= ignore_index < classes and bool((target == ignore_index).any()))


def at_classes(xp: Any, target: Array) -> Any:
    """Return the index of the element at each row's class, for (N, C) and (N,)."""
    return xp.arange(target.shape[0]), target


def class_weights(xp: Any, target: Array, weight: Array | None, ignore_index: int,
                  dtype: Any) -> tuple[Array, Array]:
    """Return the classes, with 0 in place of ignored ones, and the weight of each target."""
    ignored = target == ignore_index
    safe = target if xp.may_ask() and not ignored.any() else xp.where(ignored, 0, target)
    counts = xp.ones(target.shape, dtype) if weight is None else weight[safe]
    return safe, xp.where(ignored, 0, counts)


def check_classes(xp: Any, target: Array, classes: int, ignore_index: int) -> None:
    """Raise PyTorch's error if a class is out of range."""
    if not (target.size and xp.may_ask()):
        return
    wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
    if wrong.any():
        raise IndexError(f"Target {target[wrong][0].item()} is out of bounds.")


def nll_loss(xp: Any, x: Array, target: Array, weight: Array | None, reduction: str,
             ignore_index: int) -> Array:
    """Return -x[n, target[n]] weight[target[n]], their sum, or their weighted mean.

    Raises `IndexError` for a target that is not a valid class.

    >>> from minigrad.backend import numpy_backend as xp
    >>> float(nll_loss(xp, numpy.array([[-1.0, -2.0]]), numpy.array([1]), None, "mean", -100))
    2.0
    """
    dim = class_dim(x.shape)
    if weight is None and x.ndim == 2 and all_count(xp, target, x.shape[1], ignore_index):
        chosen = x[at_classes(xp, target)]  # the common case needs less work
        if reduction == "none":
            return -chosen
        total = -xp.add.reduce(chosen)
        return total / x.dtype.type(target.size) if reduction == "mean" else total
    check_classes(xp, target, x.shape[dim], ignore_index)
    safe, counts = class_weights(xp, target, weight, ignore_index, x.dtype)
    chosen = xp.take_along_axis(x, xp.expand_dims(safe, dim), dim)
    losses = xp.where(counts == 0, 0, -chosen.reshape(target.shape)) * counts
    if reduction == "none":
        return losses
    total = xp.sum(losses)
    return total / xp.sum(counts) if reduction == "mean" else total


def nll_gradient(xp: Any, g: Array, target: Array, weight: Array | None, sizes: Sequence[int],
                 reduction: str, ignore_index: int) -> Array:
    """Return the gradient of `nll_loss` with respect to `x` of shape `sizes`.

    >>> from minigrad.backend import numpy_backend as xp
    >>> nll_gradient(xp, numpy.array(1.0), numpy.array([1, 0]), None, (2, 2), "mean", -100)
    array([[ 0. , -0.5],
           [-0.5,  0. ]])
    """
    dim = class_dim(sizes)
    result = xp.zeros(sizes, g.dtype)
    if weight is None and len(sizes) == 2 and all_count(xp, target, sizes[1], ignore_index):
        shared = reduction == "mean" and target.size
        result[at_classes(xp, target)] = -g / g.dtype.type(target.size) if shared else -g
        return result
    safe, counts = class_weights(xp, target, weight, ignore_index, g.dtype)
    values = counts * (-g / xp.sum(counts) if reduction == "mean" else -g)
    values = xp.where(target == ignore_index, 0, values)  # NaN if all weights are zero
    xp.put_along_axis(result, xp.expand_dims(safe, dim), xp.expand_dims(values, dim), dim)
    return result
