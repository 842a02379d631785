"""Fused CUDA kernels that replace chains of array functions; `CupyBackend` mixes them in.

Each has the arguments and the result of the function with the same name in `kernels_*`, and falls
back to it for unsupported cases (other dtypes, more than three spatial dimensions).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import cupy
import numpy as np

from .. import kernels_conv, kernels_norm, kernels_pool
from ..kernels_pool import pool_output_sizes
from ..kernels_window import conv_output_sizes
from .launch import blocks, each, neighbours, window
from .layout import covered, dense, wide, wide_type
from .products import convolve

Array = Any
Ints = Sequence[int]

#: Maximum bytes of columns; larger batches are split.
COLUMN_BYTES = 256 << 20

#: The steps of a row of columns that one block computes.
STEPS = 1024

#: The elements of a channel that one block sums: few enough that a multiprocessor's blocks fit into
#: its cache, and that large images give all multiprocessors enough blocks.
SHARE = 8192

#: Sums over rows are split into parts of at least this many rows, for at most this many threads.
ROWS_EACH, ENOUGH_THREADS = 16, 1 << 16


class FusedKernels:
    """Convolution, pooling and norms with fused kernels."""

    # ---------------------------------------------------------------- convolution

    def conv_forward(self, x: Array, weight: Array, bias: Array | None, stride: Ints,
                     padding: Ints, dilation: Ints, groups: int) -> Array:
        """Convolve with one matrix product per sample: the weight times the columns."""
        kernel = weight.shape[2:]
        if not covered(len(kernel), x, weight):
            return kernels_conv.conv_forward(self, x, weight, bias, stride, padding, dilation,
                                             groups)
        counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
        batch, out_channels, steps = x.shape[0], weight.shape[0], prod(counts)
        rows = weight.reshape(1, groups, out_channels // groups, prod(weight.shape[1:]))
        out = cupy.empty((batch, out_channels, *counts), x.dtype)
        flat = out.reshape(batch, groups, out_channels // groups, steps)
        for part in parts(x, kernel, counts):
            columns = columns_of(x[part], kernel, counts, stride, padding, dilation)
            columns = columns.reshape(columns.shape[0], groups, rows.shape[3], steps)
            convolve(rows, columns, flat[part])
        if bias is not None:
            out += bias.reshape(-1, *(1,) * len(counts))
        return out

    def conv_grad_input(self, g: Array, weight: Array, input_sizes: Ints, stride: Ints,
                        padding: Ints, dilation: Ints, groups: int) -> Array:
        """Compute the gradient of the columns, and sum it over the windows of each element."""
        batch, channels, *sizes = input_sizes
        kernel, counts = weight.shape[2:], g.shape[2:]
        if not covered(len(kernel), g, weight):
            return kernels_conv.conv_grad_input(self, g, weight, input_sizes, stride, padding,
                                                dilation, groups)
        steps, taps = prod(counts), prod(kernel)
        rows = weight.reshape(1, groups, weight.shape[0] // groups, -1).swapaxes(2, 3)
        grad = cupy.empty(tuple(input_sizes), g.dtype)
        above = g.reshape(batch, groups, weight.shape[0] // groups, steps)
        pointwise = taps == 1 and tuple(counts) == tuple(sizes) and not any(padding)
        for part in parts(grad, kernel, counts):
            some = grad[part]
            shape = some.shape[0], groups, channels // groups * taps, steps
            columns = some.reshape(shape) if pointwise else cupy.empty(shape, g.dtype)
            convolve(rows, above[part], columns)
            if pointwise:
                continue
            each("col2im", g.dtype, some.size, columns, some, some.shape[0], channels,
                 window(sizes, kernel, counts, stride, padding, dilation))
        return grad

    def conv_grad_weight(self, g: Array, x: Array, weight_sizes: Ints, stride: Ints,
                         padding: Ints, dilation: Ints, groups: int) -> Array:
        """Compute one product over the steps of all samples in each part of the batch."""
        out_channels, in_group, *kernel = weight_sizes
        counts = g.shape[2:]
        if not covered(len(kernel), g, x):
            return kernels_conv.conv_grad_weight(self, g, x, weight_sizes, stride, padding,
                                                 dilation, groups)
        steps, total = prod(counts), None
        for part in parts(x, kernel, counts):
            columns = columns_of(x[part], kernel, counts, stride, padding, dilation,
                                 rows_first=True)
            columns = columns.reshape(groups, in_group * prod(kernel), -1)
            above = g[part].reshape(-1, groups, out_channels // groups, steps)
            above = above.transpose(1, 2, 0, 3).reshape(groups, out_channels // groups, -1)
            product = cupy.empty((*above.shape[:2], columns.shape[1]), g.dtype)
            convolve(above, columns.swapaxes(1, 2), product)
            total = product if total is None else total + product
        if total is None:
            return cupy.zeros(tuple(weight_sizes), g.dtype)
        return total.reshape(tuple(weight_sizes))

    # ---------------------------------------------------------------- pooling

    def max_pool_forward(self, x: Array, kernel: Ints, stride: Ints, padding: Ints,
                         dilation: Ints, ceil_mode: bool) -> tuple[Array, Array]:
        """Return the maximum of every window and its position, with one kernel."""
        dims = len(kernel)
        if not covered(dims, x):
            return kernels_pool.max_pool_forward(self, x, kernel, stride, padding, dilation,
                                                 ceil_mode)
        lead, sizes = x.shape[:x.ndim - dims], x.shape[x.ndim - dims:]
        counts = pool_output_sizes(sizes, kernel, stride, padding, dilation, ceil_mode)
        values = cupy.empty((*lead, *counts), x.dtype)
        indices = cupy.empty(values.shape, np.int64)
        each("max_pool", x.dtype, values.size, dense(x), values, indices, prod(lead),
             window(sizes, kernel, counts, stride, padding, dilation))
        return values, indices

    def max_pool_grad_input(self, g: Array, indices: Array, sizes: Ints, kernel: Ints,
                            stride: Ints, padding: Ints, dilation: Ints) -> Array:
        """Return the gradient of `max_pool_forward`, with one kernel that searches the windows."""
        dims = len(kernel)
        if not covered(dims, g):
            return kernels_pool.max_pool_backward(self, g, indices, sizes, dims)
        result, first = cupy.empty(tuple(sizes), g.dtype), len(sizes) - dims
        each("max_pool_gradient", g.dtype, result.size, dense(g), dense(indices), result,
             prod(sizes[:first]),
             window(sizes[first:], kernel, g.shape[first:], stride, padding, dilation))
        return result

    # ---------------------------------------------------------------- norms

    def batch_norm_forward(self, x: Array, weight: Array | None, bias: Array | None,
                           eps: float) -> tuple[Array, Array, Array, Array]:
        """Normalise with three kernels: partial moments, the channels' moments, every element."""
        if not (covered(1, x) and x.size):
            return kernels_norm.batch_norm_forward(self, x, weight, bias, eps)
        x = cupy.ascontiguousarray(x)
        batch, channels, inner = x.shape[0], x.shape[1], prod(x.shape[2:])
        found, parts = sums_of_channels("channel_parts", x, x)
        mean, var, invstd = (cupy.empty(channels, found.dtype) for _ in range(3))
        blocks("channel_moments", x.dtype, channels, parts, found, mean, var, invstd, channels,
               batch * inner, parts, SHARE, float(eps))
        return self.batch_norm_by(x, weight, bias, mean, invstd), mean, var, invstd

    def batch_norm_by(self, x: Array, weight: Array | None, bias: Array | None, mean: Array,
                      invstd: Array) -> Array:
        """Normalise every element with one kernel."""
        if not (covered(1, x) and x.size):
            return kernels_norm.batch_norm_by(self, x, weight, bias, mean, invstd)
        x, inner = cupy.ascontiguousarray(x), prod(x.shape[2:])
        result, many = cupy.empty_like(x), neighbours(inner, x)
        each("channel_normalize", x.dtype, x.size // many, x, wide(mean, x), wide(invstd, x),
             wide(weight, x), wide(bias, x), result, x.size, x.shape[1], inner, many)
        return result

    def move_moments(self, running_mean: Array | None, running_var: Array | None, mean: Array,
                     var: Array, momentum: float, of_var: float) -> None:
        """Move running moments towards the batch's, with one kernel."""
        given = [a for a in (running_mean, running_var, mean, var) if a is not None]
        if not (covered(1, *given) and all(a.flags.c_contiguous for a in given)):
            kernels_norm.move_moments(self, running_mean, running_var, mean, var, momentum, of_var)
            return
        each("move_moments", mean.dtype, mean.size, running_mean, running_var, mean, var,
             mean.size, float(momentum), float(of_var))

    def batch_norm_sums(self, g: Array, x: Array, mean: Array,
                        invstd: Array) -> tuple[Array, Array]:
        """Return the gradients of bias and weight, sums over each channel, with two kernels."""
        if not (covered(1, g, x) and x.size):
            return (kernels_norm.channel_sums(self, g),
                    kernels_norm.batch_norm_grad_weight(self, g, x, mean, invstd))
        found, parts = sums_of_channels("channel_products", x, dense(g), dense(x), wide(mean, x))
        of_bias, of_weight = (cupy.empty(x.shape[1], found.dtype) for _ in range(2))
        blocks("channel_totals", x.dtype, x.shape[1], parts, found, wide(invstd, x), of_bias,
               of_weight, x.shape[1], parts)
        return of_bias, of_weight

    def batch_norm_grad_input(self, g: Array, x: Array, weight: Array | None, mean: Array,
                              invstd: Array, sums: tuple[Array, Array] | None = None) -> Array:
        """Compute the gradient with one kernel, after `batch_norm_sums` unless `sums` is given."""
        if not (covered(1, g, x) and x.size):
            return kernels_norm.batch_norm_grad_input(self, g, x, weight, mean, invstd)
        g, x = cupy.ascontiguousarray(g), cupy.ascontiguousarray(x)
        channels, inner = x.shape[1], prod(x.shape[2:])
        of_bias, of_weight = sums or self.batch_norm_sums(g, x, mean, invstd)
        result, many = cupy.empty_like(x), neighbours(inner, g, x)
        each("channel_gradient", x.dtype, x.size // many, g, x, wide(mean, x), wide(invstd, x),
             wide(weight, x), of_bias, of_weight, result, x.size, channels, inner,
             x.shape[0] * inner, many)
        return result

    def batch_norm_grad_weight(self, g: Array, x: Array, mean: Array, invstd: Array) -> Array:
        """Return the second result of `batch_norm_sums`."""
        return self.batch_norm_sums(g, x, mean, invstd)[1]

    def layer_norm(self, x: Array, shape: Ints, weight: Array | None, bias: Array | None,
                   eps: float) -> Any:
        """Return the result, the means and 1 / sqrt(var + eps) over the last dimensions."""
        if not same_floats(x, weight, bias):
            return NotImplemented
        length = prod(shape)
        x, rows = cupy.ascontiguousarray(x), x.size // max(length, 1)
        result = cupy.empty_like(x)
        mean, rstd = (cupy.empty(rows, wide_type(x.dtype)) for _ in range(2))
        blocks("layer_norm", x.dtype, rows, length, x, wide(weight, x), wide(bias, x), result,
               mean, rstd, rows, length, float(eps))
        sizes = *x.shape[:x.ndim - len(shape)], *(1,) * len(shape)
        return result, mean.reshape(sizes), rstd.reshape(sizes)

    def layer_norm_grad_input(self, g: Array, x: Array, weight: Array | None, mean: Array,
                              rstd: Array) -> Array:
        """Return the gradient of `layer_norm` with respect to `x`, with one kernel."""
        g, x = dense(g), dense(x)
        result, rows = cupy.empty_like(x), mean.size
        length = x.size // max(rows, 1)
        blocks("layer_norm_gradient", x.dtype, rows, length, g, x, wide(weight, x), wide(mean, x),
               wide(rstd, x), result, rows, length)
        return result

    def layer_norm_grad_weight(self, g: Array, x: Array, mean: Array, rstd: Array,
                               shape: Ints) -> Array:
        """Return the gradient of `layer_norm` with respect to its weight.

        It sums over parts of the rows, so that many short rows also give enough threads; each
        thread adds `ROWS_EACH` rows or more.
        """
        g, x, rows, length = dense(g), dense(x), mean.size, prod(shape)
        parts = max(1, min(rows // ROWS_EACH, ENOUGH_THREADS // max(length, 1)))
        products = cupy.empty((parts, length), wide_type(x.dtype))
        each("layer_norm_products", x.dtype, products.size, g, x, wide(mean, x), wide(rstd, x),
             products, rows, length, parts)
        return (products if parts == 1 else products.sum(0)).reshape(tuple(shape))

    # ---------------------------------------------------------------- elements

    def maximum(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """Return `cupy.maximum`; for zero, as in `relu`, use a kernel of four elements per thread.

        CuPy's kernels compute one element per thread, which is slow for elements of two bytes.
        """
        if type(x) is not int or x or not rectifies(y, y if out is None else out):
            return cupy.maximum(x, y, out=out)
        result = cupy.empty_like(y) if out is None else out
        many = neighbours(y.size, y, result)
        each("relu", y.dtype, y.size // many, y, result, y.size, many)
        return result

    def relu_gradient(self, g: Array, y: Array) -> Array:
        """Return `g` where `y`, the result of `relu`, is not zero, with one kernel."""
        if not (covered(1, g, y) and g.shape == y.shape):
            return cupy.where(y <= 0, g.dtype.type(0), g)
        g, y = dense(g), dense(y)
        result, many = cupy.empty_like(g), neighbours(g.size, g, y)
        each("relu_gradient", g.dtype, g.size // many, g, y, result, g.size, many)
        return result

    def select(self, condition: Array, x: Array, y: Array) -> Array:
        """Return `x` where the condition holds, else `y`; a GPU does not predict branches."""
        return cupy.where(condition, x, y)

    def gelu(self, x: Array, approximate: str) -> Any:
        """Return x times the normal distribution function of x, or its "tanh" approximation."""
        if not covered(1, x):
            return NotImplemented
        x = dense(x)
        result = cupy.empty_like(x)
        each("gelu", x.dtype, x.size, x, result, x.size, np.int32(approximate == "tanh"))
        return result

    def gelu_gradient(self, g: Array, x: Array, approximate: str) -> Array:
        """Return the gradient of `gelu`."""
        g, x = dense(g), dense(x)
        result = cupy.empty_like(x)
        each("gelu_gradient", x.dtype, x.size, g, x, result, x.size,
             np.int32(approximate == "tanh"))
        return result

    # ---------------------------------------------------------------- softmax

    def softmax(self, x: Array, dim: int, dtype: Any = None) -> Any:
        """Return the softmax along a dimension, with one kernel."""
        return softmax_of(x, dim, dtype, logarithm=False)

    def log_softmax(self, x: Array, dim: int, dtype: Any = None) -> Any:
        """Return the logarithm of the softmax along a dimension, with one kernel."""
        return softmax_of(x, dim, dtype, logarithm=True)

    def softmax_gradient(self, g: Array, y: Array, dim: int) -> Array:
        """Return the gradient of `softmax`, given its result `y`."""
        return softmax_gradient_of(g, y, dim, logarithm=False)

    def log_softmax_gradient(self, g: Array, y: Array, dim: int) -> Array:
        """Return the gradient of `log_softmax`, given its result `y`."""
        return softmax_gradient_of(g, y, dim, logarithm=True)


def softmax_of(x: Array, dim: int, dtype: Any, logarithm: bool) -> Any:
    """Launch the kernel of `softmax` or `log_softmax` if it supports the array."""
    if dtype is not None or not (x.ndim and x.size and covered(1, x)):
        return NotImplemented
    x = cupy.ascontiguousarray(x)
    result = cupy.empty_like(x)
    length, inner = x.shape[dim], prod(x.shape[dim:][1:])
    rows = x.size // max(length, 1)
    blocks("softmax", x.dtype, rows, length, x, result, rows, length, inner, np.int32(logarithm))
    return result


def softmax_gradient_of(g: Array, y: Array, dim: int, logarithm: bool) -> Array:
    """Launch the kernel of the gradient of `softmax` or `log_softmax`."""
    g, y = dense(g), dense(y)
    result = cupy.empty_like(y)
    length, inner = (y.shape[dim], prod(y.shape[dim:][1:])) if y.ndim else (1, 1)
    rows = y.size // max(length, 1)
    blocks("softmax_gradient", y.dtype, rows, length, g, y, result, rows, length, inner,
           np.int32(logarithm))
    return result


def same_floats(x: Array, *parameters: Array | None) -> bool:
    """Return whether all arrays are floating and not empty, and no parameter is wider than `x`."""
    present = [a for a in (x, *parameters) if a is not None]
    widest = max(4, x.dtype.itemsize)
    return all(a.dtype.kind == "f" and a.size and a.dtype.itemsize <= widest for a in present)


def rectifies(x: Any, out: Array) -> bool:
    """Return whether the kernel of `relu` supports these arrays."""
    return type(x) is cupy.ndarray and covered(1, x, out) and x.shape == out.shape and bool(
        x.flags.c_contiguous and out.flags.c_contiguous)


def sums_of_channels(name: str, x: Array, *arrays: Array) -> tuple[Array, int]:
    """Return two numbers for each part of each channel, and the number of parts.

    `arrays` are the inputs of the kernel with this name: `x` or arrays of its shape, and others.
    """
    batch, channels, inner = x.shape[0], x.shape[1], prod(x.shape[2:])
    parts = -(-batch * inner // SHARE)
    found = cupy.empty((parts, channels, 2), wide_type(x.dtype))
    blocks(name, x.dtype, parts * channels, min(batch * inner, SHARE), *arrays, found, batch,
           channels, inner, parts, SHARE)
    return found, parts


def parts(x: Array, kernel: Ints, counts: Ints) -> list[slice]:
    """Split a batch so that the columns of each part fit into the limit."""
    batch = x.shape[0]
    per_sample = x.shape[1] * prod(kernel) * prod(counts) * x.dtype.itemsize
    step = max(1, COLUMN_BYTES // max(1, per_sample))
    return [slice(i, min(i + step, batch)) for i in range(0, batch, step)]


def columns_of(x: Array, kernel: Ints, counts: Ints, stride: Ints, padding: Ints, dilation: Ints,
               rows_first: bool = False) -> Array:
    """Return all windows as columns: (batch, rows, steps), or (rows, batch, steps).

    A row is one channel at one position of the kernel.
    """
    batch, channels = x.shape[:2]
    rows, steps = channels * prod(kernel), prod(counts)
    pointwise = prod(kernel) == 1 and prod(stride) == 1 and not any(padding)
    if pointwise and not rows_first:
        return x.reshape(batch, channels, steps)
    shape = (rows, batch, steps) if rows_first else (batch, rows, steps)
    columns = cupy.empty(shape, x.dtype)
    by_sample, by_row = (steps, batch * steps) if rows_first else (rows * steps, steps)
    pieces = -(-steps // STEPS)
    blocks("im2col", x.dtype, batch * rows * pieces, min(steps, STEPS), dense(x), columns, batch,
           channels, window(x.shape[2:], kernel, counts, stride, padding, dilation), by_sample,
           by_row, pieces, STEPS)
    return columns
