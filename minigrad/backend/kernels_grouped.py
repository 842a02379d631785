"""Grouped convolution with stride one, on the CPU.

NOTE [Flat lines]
    If a group has few channels, the product is cheap and copying the windows costs most.  Therefore
    we copy whole samples, padded and flat in memory, once for each position of the kernel, without
    a loop over lines.  This also computes steps across the end of a line.  `_forward` drops them.
    In `_grad_weight` their gradient is zero, but zero times infinity is NaN, so the general kernel
    runs if the result is not finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from . import kernels_conv, kernels_strided
from .conv_flip import flip_pays, flipped
from .kernels_window import conv_output_sizes, pad

Array = Any
Ints = Sequence[int]

__all__ = ["GroupedKernels"]

# Windows of one block; they stay in cache between the copy and the product.
_WINDOW_BYTES = 1 << 19
# With more output channels per group the product costs as much as the copy.
_FEW = 32


class GroupedKernels:
    """Faster versions of `kernels_conv`, for groups with few channels or long strides.

    >>> from minigrad.backend import numpy_backend as xp
    >>> x, w = numpy.arange(6.0).reshape(1, 2, 3), numpy.array([[[1.0, 1]], [[0, 1]]])
    >>> xp.conv_forward(x, w, None, (1,), (0,), (1,), 2)
    array([[[1., 3.],
            [4., 5.]]])
    """

    def conv_forward(self, x: Array, weight: Array, bias: Array | None, stride: Ints,
                     padding: Ints, dilation: Ints, groups: int) -> Array:
        """Compute `kernels_conv.conv_forward`."""
        if not _copies_dominate(weight.shape, stride, groups):
            return kernels_conv.conv_forward(self, x, weight, bias, stride, padding, dilation,
                                             groups)
        out = _forward(self, x, weight, padding, dilation, groups)
        if bias is not None:
            out += bias.reshape(-1, *(1,) * len(stride))
        return out

    def conv_grad_input(self, g: Array, weight: Array, input_sizes: Ints, stride: Ints,
                        padding: Ints, dilation: Ints, groups: int) -> Array:
        """Compute `kernels_conv.conv_grad_input`."""
        sizes, kernel = input_sizes[2:], weight.shape[2:]
        if groups > 1 and flip_pays(g, weight, sizes, stride, padding, dilation):
            mirrored = [d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding)]
            return self.conv_forward(g, flipped(self, weight, groups), None, stride,
                                     mirrored, dilation, groups)
        compute = kernels_conv.conv_grad_input
        if kernels_strided.suits(weight, g.shape[2:], stride, dilation) and (
                _finite(self, weight.sum())):  # zero times infinity is NaN
            compute = kernels_strided.conv_grad_input
        return compute(self, g, weight, input_sizes, stride, padding, dilation, groups)

    def conv_grad_weight(self, g: Array, x: Array, weight_sizes: Ints, stride: Ints, padding: Ints,
                         dilation: Ints, groups: int) -> Array:
        """Compute `kernels_conv.conv_grad_weight`."""
        if _copies_dominate(weight_sizes, stride, groups):
            grad = _grad_weight(self, g, x, weight_sizes, padding, dilation, groups)
            if _finite(self, grad):
                return grad
        return kernels_conv.conv_grad_weight(self, g, x, weight_sizes, stride, padding, dilation,
                                             groups)


def _copies_dominate(weight_sizes: Ints, stride: Ints, groups: int) -> bool:
    out_channels, in_group, *kernel = weight_sizes
    return (groups > 1 and prod(stride) == 1 and in_group > 0 and prod(kernel) > 1
            and out_channels // groups <= _FEW)


def _finite(xp: Any, array: Array) -> bool:
    return bool(xp.all(xp.isfinite(array)))


def _forward(xp: Any, x: Array, weight: Array, padding: Ints, dilation: Ints,
             groups: int) -> Array:
    """Cross-correlate `x` (N, C, *S) with `weight` (O, C / groups, *K): (N, O, *steps)."""
    batch, _, *sizes = x.shape
    out_channels, in_group, *kernel = weight.shape
    counts = conv_output_sizes(sizes, kernel, (1,) * len(sizes), padding, dilation)
    rows = xp.ascontiguousarray(weight).reshape(groups, -1, in_group * prod(kernel))
    lines = _lines(counts, sizes, padding)
    out = xp.empty((batch, groups, rows.shape[1], prod(lines)), xp.result_type(x, weight))
    for block, columns in _columns_by_block(xp, x, kernel, padding, dilation, counts, groups):
        xp.matmul(rows[block[1]], columns, out=out[block][..., : columns.shape[-1]])
    return xp.ascontiguousarray(_steps_of(out.reshape(batch, out_channels, *lines), counts))


def _grad_weight(xp: Any, g: Array, x: Array, weight_sizes: Ints, padding: Ints, dilation: Ints,
                 groups: int) -> Array:
    """Differentiate `_forward` with respect to its weight, for `g` (N, O, *steps)."""
    out_channels, in_group, *kernel = weight_sizes
    counts = g.shape[2:]
    lines = _lines(counts, x.shape[2:], padding)
    above = xp.zeros((*g.shape[:2], *lines), g.dtype)
    _steps_of(above, counts)[...] = g
    above = above.reshape(len(x), groups, out_channels // groups, prod(lines))
    grad = xp.zeros((groups, above.shape[2], in_group * prod(kernel)), xp.result_type(g, x))
    for block, columns in _columns_by_block(xp, x, kernel, padding, dilation, counts, groups):
        products = xp.matmul(above[block][..., : columns.shape[-1]], columns.swapaxes(2, 3))
        grad[block[1]] += xp.sum(products, 0)
    return grad.reshape(weight_sizes)


def _lines(counts: Ints, sizes: Ints, padding: Ints) -> tuple[int, ...]:
    """Return the step counts with one step for each padded element of a line."""
    return counts[0], *(n + 2 * p for n, p in zip(sizes[1:], padding[1:]))


def _steps_of(wide: Array, counts: Ints) -> Array:
    """View only the real steps, without those across the ends of lines."""
    return wide[(..., *map(slice, counts))]


def _columns_by_block(
    xp: Any, x: Array, kernel: Ints, padding: Ints, dilation: Ints, counts: Ints, groups: int
) -> Iterator[tuple[tuple[slice, slice], Array]]:
    """Yield some samples and groups with their columns: (samples, groups, rows, flat steps)."""
    padded = xp.ascontiguousarray(pad(xp, x, padding, padding))
    per_group = x.shape[1] // groups
    sample, channel, *steps = padded.strides
    last = sum((n - 1) * prod(padded.shape[i:]) for i, n in enumerate(counts, 3))
    view = xp.lib.stride_tricks.as_strided(
        padded, (len(x), groups, per_group, *kernel, last + 1),
        (sample, channel * per_group, channel, *(step * d for step, d in zip(steps, dilation)),
         steps[-1]))
    rows = per_group * prod(kernel)
    per_block = max(1, _WINDOW_BYTES // max(1, rows * (last + 1) * x.dtype.itemsize))
    samples, some = max(1, per_block // groups), min(per_block, groups)
    room = xp.empty((min(samples, len(x)), some, *view.shape[2:]), x.dtype)
    for first in range(0, len(x), samples):
        for start in range(0, groups, some):
            block = slice(first, first + samples), slice(start, start + some)
            chosen = view[block]
            columns = room[: len(chosen), : chosen.shape[1]]
            columns[...] = chosen
            yield block, columns.reshape(*columns.shape[:2], rows, last + 1)
