# Stage 04c, Convolution: the exercise for minigrad/backend/kernels_conv.py.
# Made by `minigrad dev build`. The lesson is lessons/04c_convolution.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04c
# docs/en/glossary.md explains the names used inside the package.

"""Convolution and its two derivatives, for any number of spatial dimensions.

All three are one matrix product and one copy: every window of the input is laid out as a column,
and the weight, with one row per output channel, multiplies them all.  Each function is linear in
both of its arrays, and each is a derivative of the other two, so a double backward needs no further
kernel:

    sum(conv_forward(x, w) * g) == sum(x * conv_grad_input(g, w)) == sum(w * conv_grad_weight(g, x))

Arrays are `(batch, channels, *spatial)`, weights `(out channels, in channels / groups, *kernel)`.

NOTE [Blocks]
    The columns of a batch take many times its memory, so we create them for one block at a time and
    drop them after use.  A block is some samples or, if a single sample has too many columns, some
    lines of its steps.  Blocks run one after the other, because BLAS's threads already split each
    product among them.  See NOTE [Two pools of threads] in `threads`.

NOTE [Short lines]
    A copy is fast if many neighbouring elements move together.  Usually these are steps along the
    last dimension. If there are few of them, as in the last stages of a network, channels are
    adjacent instead.  Only the layout in memory changes; indices mean the same.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .kernels_window import (
    add_windows,
    conv_output_sizes,
    crop,
    kernel_positions,
    pad,
    windows,
    zeros,
)

Array = Any
Ints = Sequence[int]
Block = tuple[slice, slice]  # samples, and lines: steps along the first spatial dimension

__all__ = ["conv_forward", "conv_grad_input", "conv_grad_weight"]

# Columns of one block: few enough to stay in cache between the copy and the product, and enough for
# an efficient product.
_COLUMN_BYTES = 2 << 20
# Lines with fewer steps are short, see NOTE [Short lines].
_SHORT = 12
# A pointwise product of one sample with this many steps is worth a separate call.
_MANY_STEPS = 64


def _is_pointwise(kernel: Ints, stride: Ints, padding: Ints) -> bool:
    return prod(kernel) == 1 and prod(stride) == 1 and not any(padding)


def _parts(count: int, pieces: int) -> list[slice]:
    """Cut `count` items into nearly equal slices, at most `pieces` of them."""
    size = -(-count // max(1, pieces))
    return [slice(i, min(i + size, count)) for i in range(0, count, size or 1)]


def _blocks(batch: int, rows: int, counts: Ints, itemsize: int) -> list[Block]:
    """Cut a batch into blocks of columns with `rows` elements each; see NOTE [Blocks]."""
    per_sample = rows * prod(counts) * itemsize
    if per_sample <= _COLUMN_BYTES:
        whole = slice(0, counts[0])
        return [(some, whole) for some in _parts(batch, -(-batch * per_sample // _COLUMN_BYTES))]
    lines = _parts(counts[0], -(-per_sample // _COLUMN_BYTES))
    return [(one, some) for one in _parts(batch, batch) for some in lines]


def _window_view(
    xp: Any, x: Array, kernel: Ints, stride: Ints, dilation: Ints, counts: Ints
) -> Array:
    """View every window of padded `x` as (channels, *kernel, batch, *steps)."""
    dims = len(kernel)
    view = windows(xp, x.swapaxes(0, 1), kernel, stride, dilation, counts)
    return view.transpose(0, *range(2, 2 + dims), 1, *range(2 + dims, 2 + 2 * dims))


def _has_short_lines(channels: int, counts: Ints, groups: int) -> bool:
    return groups == 1 and counts[-1] < min(_SHORT, channels)


def _columns(xp: Any, view: Array, block: Block, groups: int) -> Array:
    """Copy the windows of a block to (groups, channels / groups * kernel, samples * steps)."""
    dims = view.ndim // 2 - 1
    chosen = view[(slice(None),) * (1 + dims) + block]
    before, after = chosen.shape[: 1 + dims], chosen.shape[1 + dims :]
    if not _has_short_lines(view.shape[0], after, groups):
        columns = xp.empty(chosen.shape, view.dtype)
        columns[...] = chosen
        return columns.reshape(groups, prod(before) // groups, prod(after))
    turned = xp.empty((*after, *before), view.dtype)
    columns = turned.transpose(*range(1 + dims, view.ndim), *range(1 + dims))
    for position in kernel_positions(before[1:]):
        columns[(slice(None), *position)] = chosen[(slice(None), *position)]
    return turned.reshape(prod(after), prod(before)).T[None]


def _columns_by_block(
    xp: Any,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    counts: Ints,
    groups: int,
) -> tuple[Callable[[Block], Array], list[Block]]:
    """Return a function that creates the columns of a block of `x`, and the blocks."""
    batch, channels = x.shape[:2]
    if _is_pointwise(kernel, stride, padding) and tuple(counts) == x.shape[2:]:
        # The input is its own columns.
        samples = _parts(batch, batch if prod(counts) >= _MANY_STEPS else 1)
        blocks = [(some, slice(0, counts[0])) for some in samples]
        return lambda block: _side_by_side(x, block, groups), blocks
    short = _has_short_lines(channels, counts, groups)
    padded = pad(xp, x, padding, padding, channels_last=short)
    view = _window_view(xp, padded, kernel, stride, dilation, counts)
    blocks = _blocks(batch, channels * prod(kernel), counts, x.dtype.itemsize)
    return lambda block: _columns(xp, view, block, groups), blocks


def _side_by_side(a: Array, block: Block, groups: int) -> Array:
    """Return a block of (batch, channels, *steps) as (groups, channels / groups, samples * steps).

    It is a view if the block is one sample of a contiguous array.
    """
    samples, lines = block
    channels = a.shape[1] // groups
    if samples.stop - samples.start == 1:
        sample = a[samples.start, :, lines]
        return sample.reshape(groups, channels, prod(sample.shape[1:]))
    part = a[samples, :, lines].swapaxes(0, 1)
    return part.reshape(groups, channels, prod(part.shape[1:]))


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
    # 04c.5 The convolution (about 16 lines)
    # Return an array of shape (N, O, *steps). At each step and for each output channel o,
    # it has the sum of the weights `weight[o]` times the elements under them, over input
    # channels and kernel positions, plus `bias[o]`.
    #   x [[[1, 2, 4, 8]]], weight [[[10, 1]]], stride (1,)     -> [[[12, 24, 48]]]
    #   the same with stride (2,), padding (1,), bias [100]     -> [[[101, 124, 180]]]
    #   x [[[1, 2], [4, 8]]], weight [[[10]], [[3]]], 2 groups  -> [[[10, 20], [12, 24]]]
    # Mind:
    # - The weight isn't mirrored.
    # - `groups` divides input and output channels into equal consecutive parts. Each part
    #   of the output sees only its part of the input.
    # - The dtype is `xp.result_type(x, weight)`.
    # - A batch may be empty.
    # Use: `conv_output_sizes`, `pad`, `windows`; you don't need blocks
    # (`_columns_by_block`).
    raise NotImplementedError("04c.5 The convolution is yours to write")


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
    # 04c.7 The input's gradient (about 24 lines)
    # Return the gradient of the input, of shape `input_sizes` (N, C, *S). Each element of
    # `g`, times the weights, goes to the elements that its window looked at, where
    # everything adds up.
    #   g [[[1, 10]]], weight [[[2, 3]]], 3 elements, stride (1,) -> [[[2, 23, 30]]]
    #   the same, 5 elements, stride (3,)                         -> [[[2, 3, 0, 20, 30]]]
    #   the same, 1 element, stride (1,), padding (1,)            -> [[[23]]]
    # Mind:
    # - The steps are `g.shape[2:]`; `g` may have fewer steps than would fit.
    # - Elements outside every window get zero, and the padding is cut off.
    # - The dtype is `xp.result_type(g, weight)`.
    # Use: `add_windows`, `crop`, and groups as in `conv_forward`. `_flip_pays` and blocks
    # only make the package's version faster.
    raise NotImplementedError("04c.7 The input's gradient is yours to write")


def _flip_pays(
    g: Array, weight: Array, sizes: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> bool:
    """Return whether a convolution of `g` with the flipped weight is the faster input gradient.

    The result is the same if no step was skipped and the windows covered the whole input.  The
    flipped version copies its columns once, while the sums over windows read and write theirs
    several times; only the flipped copy of the weight costs more, if it is larger than those
    columns.
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
    """Return the weight of the reverse convolution: channels swapped, kernel mirrored."""
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
    """Return the gradient of `conv_forward` with respect to its weight, for `g` (N, O, *steps).

    `g` may have fewer steps than would fit.

    >>> from minigrad.backend import numpy_backend as xp
    >>> g, x = numpy.ones((1, 1, 2)), numpy.arange(3.0).reshape(1, 1, 3)
    >>> conv_grad_weight(xp, g, x, (1, 1, 2), (1,), (0,), (1,), 1)
    array([[[1., 3.]]])
    """
    # 04c.6 The weight's gradient (about 14 lines)
    # Return the gradient of the weight, of shape `weight_sizes` (O, C / groups, *K). Each
    # gradient is the sum, over samples and steps, of `g` times the element that the
    # weight met.
    #   g [[[1, 10]]], x [[[2, 3, 5]]], stride (1,), 2 weights         -> [[[32, 53]]]
    #   g [[[1, 10]]], x [[[2, 3, 5, 7, 11]]], stride (2,), 2 weights  -> [[[52, 73]]]
    # Mind:
    # - The steps are `g.shape[2:]`; `g` may have fewer steps than would fit.
    # - If the batch is empty, the gradient is zeros.
    # - The dtype is `xp.result_type(g, x)`.
    # Use: the functions that you used in `conv_forward`, with the same groups.
    raise NotImplementedError("04c.6 The weight's gradient is yours to write")
