"""Normalisation kernels of batch norm and layer norm, with few passes over memory.

They normalise an array to mean zero and variance one along some axes; `mean` and `invstd` (one over
the standard deviation) keep those axes with size one.

Batch norm, which has the largest arrays, gets separate kernels.  They view an array as (batch,
channels, elements), sum with `einsum`, which allocates no product, and work in place on a single
new array. They process a block of channels at a time, so that it stays in cache from pass to pass;
several threads may share the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

Array = Any
Ints = Sequence[int]

__all__ = [
    "batch_norm_by",
    "batch_norm_forward",
    "batch_norm_grad_input",
    "batch_norm_grad_weight",
    "batch_norm_sums",
    "channel_sums",
    "dot_along",
    "group_norm_grad_input",
    "group_norm_sums",
    "moments",
    "normalization_gradient",
]

# The size of a block of each array.
_BLOCK_BYTES = 512 << 10


def dot_along(xp: Any, a: Array, b: Array, axes: Ints) -> Array:
    """Return sum(a * b) along `axes`, without allocating the product; they keep size one.

    >>> dot_along(numpy, numpy.array([[1.0, 2.0]]), numpy.array([[3.0, 4.0]]), (1,))
    array([[11.]])
    """
    shape = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    return dot_over(xp, a, b, axes).reshape(shape)


def dot_over(xp: Any, a: Array, b: Array, axes: Ints) -> Array:
    """Return sum(a * b) over `axes`, without allocating the product; they are dropped.

    >>> dot_over(numpy, numpy.array([[1.0, 2.0]]), numpy.array([[3.0, 4.0]]), (1,))
    array([11.])
    """
    everything = list(range(a.ndim))
    return xp.einsum(a, everything, b, everything, [i for i in everything if i not in axes])


def moments(xp: Any, x: Array, axes: Ints) -> tuple[Array, Array, Array]:
    """Return the mean along `axes`, the population variance, and x - mean as a new array.

    >>> moments(numpy, numpy.array([1.0, 3.0]), (0,))
    (array([2.]), array([1.]), array([-1.,  1.]))
    """
    count = prod(x.shape[i] for i in axes)
    mean = xp.sum(x, tuple(axes), keepdims=True) / x.dtype.type(count)
    centered = x - mean
    return mean, dot_along(xp, centered, centered, axes) / x.dtype.type(count), centered


def normalization_gradient(xp: Any, g: Array, x: Array, mean: Array, invstd: Array,
                           axes: Ints) -> Array:
    """Return the gradient of (x - mean) * invstd, both of which depend on x, along `axes`.

    >>> x, one = numpy.array([1.0, 3.0]), numpy.ones(1)
    >>> normalization_gradient(numpy, numpy.array([1.0, 1.0]), x, 2 * one, one, (0,))
    array([0., 0.])
    """
    count = x.dtype.type(prod(x.shape[i] for i in axes))
    result = x - mean
    result *= dot_along(xp, g, result, axes) * invstd * invstd / -count
    result -= xp.sum(g, tuple(axes), keepdims=True) / count
    result += g
    result *= invstd
    return result


# Group norm


def group_norm_sums(xp: Any, g: Array, x: Array, mean: Array, rstd: Array) -> tuple[Array, ...]:
    """Return the gradients of bias and weight, (C,), and the sums of g and of g * x, (N, C).

    These are all sums that the gradient of the input needs.  `mean` and `rstd` are (N, groups).

    >>> one = numpy.ones((1, 1))
    >>> group_norm_sums(numpy, numpy.ones((1, 1, 2)), numpy.array([[[1.0, 2.0]]]), one, one)[:2]
    (array([2.]), array([1.]))
    """
    flat, wide = _flat(_wide(g)), _flat(_wide(x))
    of_g, of_product = xp.einsum("ncs->nc", flat), xp.einsum("ncs,ncs->nc", flat, wide)
    each = (*mean.shape, max(1, wide.shape[1] // max(1, mean.shape[1])))
    units = (of_product.reshape(each) - of_g.reshape(each) * mean[:, :, None]) * rstd[:, :, None]
    return (of_g.sum(0).astype(g.dtype, copy=False),
            units.sum(0).reshape(-1).astype(g.dtype, copy=False), of_g, of_product)


def group_norm_grad_input(xp: Any, g: Array, x: Array, weight: Array | None, mean: Array,
                          rstd: Array, sums: tuple[Array, ...]) -> Array:
    """Return the gradient with respect to `x`, (N, C, *S), with the result of `group_norm_sums`.

    >>> g, x, one = numpy.ones((1, 1, 2)), numpy.array([[[1.0, 3.0]]]), numpy.ones((1, 1))
    >>> sums = group_norm_sums(numpy, g, x, 2 * one, one)
    >>> group_norm_grad_input(numpy, g, x, None, 2 * one, one, sums)
    array([[[0., 0.]]])
    """
    wide, mean, rstd, weight = _wide(x), _wide(mean), _wide(rstd), _wide(weight)
    (samples, channels), groups = x.shape[:2], mean.shape[1]
    rows = (samples, groups, channels // groups)
    of_g, of_product = ((each if weight is None else each * weight).reshape(rows).sum(2)
                        for each in sums[2:])
    count = wide.dtype.type(max(1, wide.size // max(1, samples * groups)))
    slope = (mean * of_g - of_product) * rstd**3 / count
    shift = -slope * mean - rstd * of_g / count
    scale = xp.broadcast_to(rstd[:, :, None], rows).reshape(samples, channels)
    scale = scale if weight is None else scale * weight
    result = wide.reshape(samples, groups, prod(rows[2:]) * prod(x.shape[2:])) * slope[:, :, None]
    result += shift[:, :, None]
    result = _flat(result.reshape(x.shape))
    result += _flat(_wide(g)) * scale[:, :, None]
    return result.reshape(x.shape).astype(x.dtype, copy=False)


# Batch norm


def _is_half(a: Array) -> bool:
    return bool(a.dtype.itemsize == 2)


def _wide(a: Array | None) -> Any:
    """Convert float16 to float32, because sums in float16 would overflow."""
    return a.astype("float32") if a is not None and _is_half(a) else a


def _flat(a: Array) -> Array:
    """Reshape (N, C, *S) to (N, C, elements), a view if the array is contiguous."""
    return a.reshape(*a.shape[:2], prod(a.shape[2:]))


def _channel_blocks(a: Array) -> list[slice]:
    channels = a.shape[1]
    if prod(a.shape[2:]) == 1:  # part of the channels would be short pieces of each row
        return [slice(0, channels)]
    step = max(1, _BLOCK_BYTES * channels // max(1, a.size * a.dtype.itemsize))
    return [slice(i, min(i + step, channels)) for i in range(0, channels, step)]


def batch_norm_forward(
    xp: Any, x: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array, Array]:
    """Return (x - mean) / sqrt(var + eps) * weight + bias, with the moments of each channel.

    Returns the result, (N, C, *S), and the mean, the variance and 1 / sqrt(var + eps), each (C,).

    >>> from minigrad.backend import numpy_backend as xp
    >>> batch_norm_forward(xp, numpy.array([[1.0], [3.0]]), None, None, 0.0)[:2]
    (array([[-1.],
           [ 1.]]), array([2.]))
    """
    if _is_half(x):
        result, *moments = batch_norm_forward(xp, _wide(x), _wide(weight), _wide(bias), eps)
        return result.astype(x.dtype), *moments
    result, flat = xp.empty(x.shape, x.dtype), _flat(x)
    centered, count = _flat(result), x.dtype.type(flat.shape[0] * flat.shape[2])
    mean, var, invstd = (xp.empty(x.shape[1], x.dtype) for _ in range(3))

    def normalize(block: slice) -> None:
        inside, out = flat[:, block], centered[:, block]
        mean[block] = xp.einsum("ncs->c", inside) / count
        xp.subtract(inside, mean[block, None], out=out)
        var[block] = xp.einsum("ncs,ncs->c", out, out) / count
        invstd[block] = 1 / xp.sqrt(var[block] + eps)
        out *= (invstd[block] if weight is None else invstd[block] * weight[block])[:, None]
        if bias is not None:
            out += bias[block, None]

    xp.for_each(normalize, _channel_blocks(flat))
    return result, mean, var, invstd


def batch_norm_by(xp: Any, x: Array, weight: Array | None, bias: Array | None, mean: Array,
                  invstd: Array) -> Array:
    """Return (x - mean) * invstd * weight + bias, for given moments.

    >>> one = numpy.ones(1)
    >>> batch_norm_by(numpy, numpy.array([[1.0], [3.0]]), None, 5 * one, one, 2 * one)
    array([[5.],
           [9.]])
    """
    shape = (1, -1) + (1,) * (x.ndim - 2)
    result = x - mean.reshape(shape)
    result *= (invstd if weight is None else weight * invstd).reshape(shape)
    if bias is not None:
        result += bias.reshape(shape)
    return result.astype(x.dtype, copy=False)


def batch_norm_grad_input(
    xp: Any, g: Array, x: Array, weight: Array | None, mean: Array, invstd: Array,
    sums: None = None,
) -> Array:
    """Return the gradient of `batch_norm_forward` with respect to `x`; all are (N, C, *S).

    `sums` is the result of `batch_norm_sums`.

    >>> from minigrad.backend import numpy_backend as xp
    >>> x, one = numpy.array([[1.0], [3.0]]), numpy.ones(1)
    >>> batch_norm_grad_input(xp, numpy.ones((2, 1)), x, None, 2 * one, one)
    array([[0.],
           [0.]])
    """
    if _is_half(x):
        wide = [_wide(a) for a in (g, x, weight, mean, invstd)]
        return batch_norm_grad_input(xp, *wide).astype(x.dtype)
    result, flat, g = xp.empty(x.shape, x.dtype), _flat(x), _flat(g)
    total, count = _flat(result), x.dtype.type(flat.shape[0] * flat.shape[2])

    def derive(block: slice) -> None:
        above, out, scale = g[:, block], total[:, block], invstd[block]
        xp.subtract(flat[:, block], mean[block, None], out=out)
        along = xp.einsum("ncs,ncs->c", above, out)
        out *= (along * scale * scale / -count)[:, None]
        out += above
        out -= (xp.einsum("ncs->c", above) / count)[:, None]
        out *= (scale if weight is None else scale * weight[block])[:, None]

    xp.for_each(derive, _channel_blocks(flat))
    return result


def batch_norm_grad_weight(xp: Any, g: Array, x: Array, mean: Array, invstd: Array) -> Array:
    """Return the gradient of `batch_norm_forward` with respect to `weight`, (C,).

    >>> from minigrad.backend import numpy_backend as xp
    >>> g, x, one = numpy.array([[1.0], [2.0]]), numpy.array([[1.0], [3.0]]), numpy.ones(1)
    >>> batch_norm_grad_weight(xp, g, x, 2 * one, one)
    array([1.])
    """
    flat, g = _flat(_wide(x)), _flat(_wide(g))
    result = xp.empty(x.shape[1], flat.dtype)

    def gather(block: slice) -> None:
        centered = flat[:, block] - mean[block, None]
        result[block] = xp.einsum("ncs,ncs->c", g[:, block], centered) * invstd[block]

    xp.for_each(gather, _channel_blocks(flat))
    return result


def batch_norm_sums(xp: Any, g: Array, x: Array, mean: Array, invstd: Array) -> Any:
    """Return channel sums that the three gradients of batch norm share; here, `None`.

    A backend that computes the sums only once returns the gradients of bias and weight.
    """


def channel_sums(xp: Any, g: Array) -> Array:
    """Return the sum over all dimensions except the second.

    >>> from minigrad.backend import numpy_backend as xp
    >>> channel_sums(xp, numpy.ones((2, 1, 3)))
    array([6.])
    """
    return xp.einsum("ncs->c", _flat(_wide(g)))


def move_moments(xp: Any, running_mean: Array | None, running_var: Array | None, mean: Array,
                 var: Array, momentum: float, of_var: float) -> None:
    """Move running moments towards a batch's, in place; `of_var` is the variance's factor.

    >>> running = numpy.array([0.0])
    >>> move_moments(numpy, running, None, numpy.array([4.0]), None, 0.25, 0.25); running
    array([1.])
    """
    if running_mean is not None:
        running_mean *= 1 - momentum
        running_mean += mean.reshape(-1) * momentum
    if running_var is not None:
        running_var *= 1 - momentum
        running_var += var.reshape(-1) * of_var
