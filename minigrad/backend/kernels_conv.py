"""Convolution and its two derivatives, for any number of spatial dimensions.

All three are one matrix product around one copy: every window of the input is laid out as a
column, and the weight, one row per output channel, multiplies them all.  Each function is linear
in both of its arrays, and each is a derivative of the other two, so a double backward needs
nothing new:

    sum(conv_forward(x, w) * g) == sum(x * conv_grad_input(g, w)) == sum(w * conv_grad_weight(g, x))

Arrays are `(batch, channels, *spatial)`, weights `(out channels, in channels / groups, *kernel)`.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from .kernels_window import add_windows, conv_output_sizes, crop, pad, windows

Array = Any
Ints = Sequence[int]

__all__ = ["conv_forward", "conv_grad_input", "conv_grad_weight"]

# Columns are made for as many samples at a time as fit here, always in the same buffer: they stay
# in cache between the copy that fills them and the product that reads them.
_COLUMN_BYTES = 2 << 20


def _is_pointwise(kernel: Ints, stride: Ints, padding: Ints) -> bool:
    return prod(kernel) == 1 and prod(stride) == 1 and not any(padding)


def _column_buffers(
    xp: Any, batch: int, column_sizes: Ints, dtype: Any
) -> Iterator[tuple[slice, Array]]:
    """Cuts the batch into chunks, each with scratch memory for its columns, reused by the next.

    `column_sizes` is (channels, *kernel, *steps); the batch goes between kernel and steps, so one
    matrix product serves all samples of a chunk.
    """
    dims = len(column_sizes) // 2
    before, after = tuple(column_sizes[: dims + 1]), tuple(column_sizes[dims + 1 :])
    per_sample = prod(column_sizes)
    step = min(batch, max(1, _COLUMN_BYTES // max(1, per_sample * xp.dtype(dtype).itemsize)))
    scratch = xp.empty(step * per_sample, dtype)
    for start in range(0, batch, step or 1):
        size = min(step, batch - start)
        buffer = scratch[: size * per_sample].reshape(*before, size, *after)
        yield slice(start, start + size), buffer


def _columns(
    xp: Any, x: Array, kernel: Ints, stride: Ints, dilation: Ints, counts: Ints, groups: int
) -> Iterator[tuple[slice, Array]]:
    """Every window of padded `x` as a column, for one chunk of the batch after another.

    Yields the chunk and (groups, channels / groups * kernel, samples * steps).
    """
    batch, channels = x.shape[:2]
    batch_inside = (0, *range(2, 2 + len(kernel)), 1, *range(2 + len(kernel), x.ndim + len(kernel)))
    view = windows(xp, x.swapaxes(0, 1), kernel, stride, dilation, counts).transpose(batch_inside)
    before = (slice(None),) * (1 + len(kernel))
    for chunk, buffer in _column_buffers(xp, batch, (channels, *kernel, *counts), x.dtype):
        buffer[...] = view[(*before, chunk)]
        samples = buffer.shape[1 + len(kernel)]
        yield (
            chunk,
            buffer.reshape(groups, channels // groups * prod(kernel), samples * prod(counts)),
        )


def _rows(g: Array, groups: int) -> Array:
    """The samples of `g` side by side: (groups, channels / groups, samples * steps)."""
    samples, channels, *counts = g.shape
    return g.swapaxes(0, 1).reshape(groups, channels // groups, samples * prod(counts))


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
    """Cross-correlates `x` (N, C, *S) with `weight` (O, C / groups, *K): (N, O, *steps).

    Raises RuntimeError where the kernel is larger than the padded input.

    >>> conv_forward(numpy, numpy.ones((1, 1, 3)), numpy.ones((1, 1, 2)), None, (1,), (0,), (1,), 1)
    array([[[2., 2.]]])
    """
    batch, out_channels, kernel = x.shape[0], weight.shape[0], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    rows = weight.reshape(groups, out_channels // groups, prod(weight.shape[1:]))
    if _is_pointwise(kernel, stride, padding):
        stacked = x.reshape(batch, groups, x.shape[1] // groups, prod(counts))
        out = xp.matmul(rows, stacked).reshape(batch, out_channels, *counts)
    else:
        padded = pad(xp, x, padding, padding)
        out = xp.empty((batch, out_channels, *counts), xp.result_type(x, weight))
        for chunk, columns in _columns(xp, padded, kernel, stride, dilation, counts, groups):
            samples = chunk.stop - chunk.start
            product = xp.matmul(rows, columns).reshape(out_channels, samples, *counts)
            out[chunk] = product.swapaxes(0, 1)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(counts))
    return out


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
    """The derivative of `conv_forward` by its input, applied to `g` (N, O, *steps): `input_sizes`.

    Elements that no window met get zero.  `g` may have fewer steps than would fit.

    >>> g, w = numpy.ones((1, 1, 2)), numpy.ones((1, 1, 2))
    >>> conv_grad_input(numpy, g, w, (1, 1, 3), (1,), (0,), (1,), 1)
    array([[[1., 2., 1.]]])
    """
    batch, channels, *sizes = input_sizes
    kernel, counts = weight.shape[2:], g.shape[2:]
    out_group = weight.shape[0] // groups
    if _is_pointwise(kernel, stride, padding) and counts == tuple(sizes):
        rows = weight.reshape(groups, out_group, channels // groups)
        stacked = g.reshape(batch, groups, out_group, prod(counts))
        return xp.matmul(rows.swapaxes(1, 2), stacked).reshape(input_sizes)
    if _flip_pays(g, weight, sizes, stride, padding, dilation):
        mirrored = [d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding)]
        return conv_forward(
            xp, g, _flipped(xp, weight, groups), None, stride, mirrored, dilation, groups
        )
    rows = weight.reshape(groups, out_group, prod(weight.shape[1:])).swapaxes(1, 2)
    dtype = xp.result_type(g, weight)
    grad = xp.zeros((batch, channels, *(n + 2 * p for n, p in zip(sizes, padding))), dtype)
    for chunk, buffer in _column_buffers(xp, batch, (channels, *kernel, *counts), dtype):
        part = _rows(g[chunk], groups)
        flat = buffer.reshape(groups, rows.shape[1], part.shape[2])
        xp.matmul(rows, part, out=flat)
        columns = xp.moveaxis(buffer, 1 + len(kernel), 0)
        add_windows(grad[chunk], columns, stride, dilation)
    return crop(xp, grad, padding, sizes)


def _flip_pays(
    g: Array, weight: Array, sizes: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> bool:
    """Whether the input gradient is better had as a convolution of `g` with the flipped weight.

    It is one where no step was skipped and all of the input was covered.  Its columns are copied
    once where sums over windows read and write theirs several times; only the flipped copy of
    the weight costs more, when it is larger than those columns.
    """
    kernel, counts = weight.shape[2:], g.shape[2:]
    reach = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return (
        prod(stride) == 1
        and all(p <= r for p, r in zip(padding, reach))
        and all(n == size + 2 * p - r for n, size, p, r in zip(counts, sizes, padding, reach))
        and weight.shape[1] <= g.shape[0] * prod(counts)
    )


def _flipped(xp: Any, weight: Array, groups: int) -> Array:
    """The weight of the reverse convolution: channels swapped within groups, kernel mirrored."""
    out_channels, in_group, *kernel = weight.shape
    grouped = weight.reshape(groups, out_channels // groups, in_group, *kernel)
    mirrored = xp.flip(grouped.swapaxes(1, 2), tuple(range(3, 3 + len(kernel))))
    return mirrored.reshape(groups * in_group, out_channels // groups, *kernel)


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
    """The derivative of `conv_forward` by its weight, applied to `g` (N, O, *steps).

    `g` may have fewer steps than would fit.

    >>> g, x = numpy.ones((1, 1, 2)), numpy.arange(3.0).reshape(1, 1, 3)
    >>> conv_grad_weight(numpy, g, x, (1, 1, 2), (1,), (0,), (1,), 1)
    array([[[1., 3.]]])
    """
    out_channels, in_group, *kernel = weight_sizes
    counts = g.shape[2:]
    if _is_pointwise(kernel, stride, padding) and counts == x.shape[2:]:
        grad = xp.matmul(_rows(g, groups), _rows(x, groups).swapaxes(1, 2))
        return grad.reshape(weight_sizes)
    rows = in_group * prod(kernel)
    grad = xp.zeros((groups, out_channels // groups, rows), xp.result_type(g, x))
    padded = pad(xp, x, padding, padding)
    for chunk, columns in _columns(xp, padded, kernel, stride, dilation, counts, groups):
        part = xp.matmul(_rows(g[chunk], groups), columns.swapaxes(1, 2))
        grad = part if chunk.start == 0 else xp.add(grad, part, out=grad)
    return grad.reshape(weight_sizes)
