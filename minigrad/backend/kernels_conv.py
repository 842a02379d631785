"""Convolution and its two derivatives, for any number of spatial dimensions.

All three are one matrix product and one copy: every window of the input is laid out as a column,
and the weight, with one row per output channel, multiplies them all.  Each function is linear in
both of its arrays, and each is a derivative of the other two, so a double backward needs no further
kernel:

    sum(conv_forward(x, w) * g) == sum(x * conv_grad_input(g, w)) == sum(w * conv_grad_weight(g, x))

Arrays are `(batch, channels, *spatial)`, weights `(out channels, in channels / groups, *kernel)`.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

from .conv_columns import column_blocks, columns_by_block, has_short_lines, side_by_side
from .conv_flip import flip_pays, flipped
from .kernels_window import (
    add_windows,
    conv_output_sizes,
    crop,
    kernel_positions,  # noqa: F401  # for an answer without blocks
    pad,  # noqa: F401  # likewise
    windows,  # noqa: F401  # likewise
    zeros,
)

Array = Any
Ints = Sequence[int]

__all__ = ["conv_forward", "conv_grad_input", "conv_grad_weight"]


def conv_forward(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    """Cross-correlate `x` (N, C, *S) with `weight` (O, C / groups, *K): (N, O, *steps).

    `bias` may be `None`. The function does not modify `x`, `weight` and `bias`.

    Raises `RuntimeError` if the kernel is larger than the padded input.

    >>> from minigrad.backend import numpy_backend as xp
    >>> x, weight = numpy.ones((1, 1, 3)), numpy.ones((1, 1, 2))
    >>> conv_forward(xp, x, weight, None, (1,), (0,), (1,), 1)
    array([[[2., 2.]]])
    """
    batch, out_channels, kernel = x.shape[0], weight.shape[0], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    rows = weight.reshape(groups, out_channels // groups, prod(weight.shape[1:]))
    out = xp.empty((batch, out_channels, *counts), xp.result_type(x, weight))
    columns_of, blocks = columns_by_block(xp, x, kernel, stride, padding, dilation, counts, groups)

    for block in blocks:
        samples, lines = block
        columns = columns_of(block)
        if samples.stop - samples.start == 1:
            xp.matmul(rows, columns, out=side_by_side(out, block, groups))
        else:
            beside = out[samples, :, lines].swapaxes(0, 1)
            beside[...] = xp.matmul(rows, columns).reshape(beside.shape)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(counts))
    return out


def conv_grad_weight(
    xp: Any,
    g: Array,
    x: Array,
    weight_sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    """Return the gradient of `conv_forward` with respect to its weight, for `g` (N, O, *steps).

    `g` may have fewer steps than would fit.

    >>> from minigrad.backend import numpy_backend as xp
    >>> g, x = numpy.ones((1, 1, 2)), numpy.arange(3.0).reshape(1, 1, 3)
    >>> conv_grad_weight(xp, g, x, (1, 1, 2), (1,), (0,), (1,), 1)
    array([[[1., 3.]]])
    """
    out_channels, in_group, *kernel = weight_sizes
    counts = g.shape[2:]
    grad = xp.empty(tuple(weight_sizes), xp.result_type(g, x))
    total = grad.reshape(groups, out_channels // groups, in_group * prod(kernel))
    columns_of, blocks = columns_by_block(xp, x, kernel, stride, padding, dilation, counts, groups)
    if not blocks:
        grad[...] = 0
    for place, block in enumerate(blocks):
        turned, beside = columns_of(block).swapaxes(1, 2), side_by_side(g, block, groups)
        if place:
            total += xp.matmul(beside, turned)
        else:
            xp.matmul(beside, turned, out=total)
    return grad


def conv_grad_input(
    xp: Any,
    g: Array,
    weight: Array,
    input_sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    """Return the gradient of `conv_forward` with respect to its input, for `g` (N, O, *steps).

    Elements outside all windows get zero.  `g` may have fewer steps than would fit.

    >>> from minigrad.backend import numpy_backend as xp
    >>> g, w = numpy.ones((1, 1, 2)), numpy.ones((1, 1, 2))
    >>> conv_grad_input(xp, g, w, (1, 1, 3), (1,), (0,), (1,), 1)
    array([[[1., 2., 1.]]])
    """
    batch, channels, *sizes = input_sizes
    kernel, counts = weight.shape[2:], g.shape[2:]
    out_group, dtype = weight.shape[0] // groups, xp.result_type(g, weight)
    if flip_pays(g, weight, sizes, stride, padding, dilation):
        mirrored = [d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding)]
        return conv_forward(
            xp, g, flipped(xp, weight, groups), None, stride, mirrored, dilation, groups
        )
    rows = weight.reshape(groups, out_group, prod(weight.shape[1:]))
    short = has_short_lines(channels, counts, groups)
    padded_sizes = tuple(n + 2 * p for n, p in zip(sizes, padding))
    grad = zeros(xp, (batch, channels, *padded_sizes), dtype, channels_last=short)

    # Windows of one sample overlap, so do not split its steps.
    cut = column_blocks(batch, groups * rows.shape[2], counts, dtype.itemsize)
    for samples in [samples for samples, lines in cut if not lines.start]:
        beside = side_by_side(g, (samples, slice(0, counts[0])), groups)
        before, after = (channels, *kernel), (samples.stop - samples.start, *counts)
        if short:
            columns = xp.matmul(beside[0].T, rows[0]).reshape(*after, *before)
            columns = xp.moveaxis(columns, range(1, len(after)), range(-len(counts), 0))
        else:
            columns = xp.matmul(rows.swapaxes(1, 2), beside).reshape(*before, *after)
            columns = xp.moveaxis(columns, len(before), 0)
        add_windows(grad[samples], columns, stride, dilation)
    return crop(xp, grad, padding, sizes)
