"""The windows of a convolution's input as columns, in blocks that stay in cache.

NOTE [Blocks]
    The columns of a batch take many times its memory, so we create them for one block at a time and
    drop them after use.  A block is some samples or, if a single sample has too many columns, some
    lines of its steps.  Blocks run one after the other, because BLAS's threads already split each
    product among them.  See NOTE [Two pools of threads] in `threads`.

NOTE [Short lines]
    A copy is fast if many neighbouring elements move together.  Usually these are steps along the
    last dimension. If there are few of them and many channels, as in the last stages of a network,
    channels are adjacent instead.  Only the layout in memory changes; indices mean the same.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .kernels_window import kernel_positions, pad, windows

Array = Any
Ints = Sequence[int]
Block = tuple[slice, slice]  # samples, and lines: steps along the first spatial dimension

__all__ = ["column_blocks", "columns_by_block", "has_short_lines", "side_by_side"]

# Columns of one block: few enough to stay in cache between the copy and the product, and enough for
# an efficient product.
COLUMN_BYTES = 2 << 20
# Lines with fewer steps are short, see NOTE [Short lines].
SHORT = 12
# For each step of a line, so many channels make it worth while to put channels side by side.
CHANNELS_PER_STEP = 16
# A pointwise product of one sample with this many steps is worth a separate call.
MANY_STEPS = 64


def is_pointwise(kernel: Ints, stride: Ints, padding: Ints) -> bool:
    return prod(kernel) == 1 and prod(stride) == 1 and not any(padding)


def slices(count: int, pieces: int) -> list[slice]:
    """Cut `count` items into nearly equal slices, at most `pieces` of them."""
    size = -(-count // max(1, pieces))
    return [slice(i, min(i + size, count)) for i in range(0, count, size or 1)]


def column_blocks(batch: int, rows: int, counts: Ints, itemsize: int) -> list[Block]:
    """Cut a batch into blocks of columns with `rows` elements each; see NOTE [Blocks]."""
    per_sample = rows * prod(counts) * itemsize
    if per_sample <= COLUMN_BYTES:
        whole = slice(0, counts[0])
        return [(some, whole) for some in slices(batch, -(-batch * per_sample // COLUMN_BYTES))]
    lines = slices(counts[0], -(-per_sample // COLUMN_BYTES))
    return [(one, some) for one in slices(batch, batch) for some in lines]


def window_view(
    xp: Any, x: Array, kernel: Ints, stride: Ints, dilation: Ints, counts: Ints
) -> Array:
    """View every window of padded `x` as (channels, *kernel, batch, *steps)."""
    dims = len(kernel)
    view = windows(xp, x.swapaxes(0, 1), kernel, stride, dilation, counts)
    return view.transpose(0, *range(2, 2 + dims), 1, *range(2 + dims, 2 + 2 * dims))


def has_short_lines(channels: int, counts: Ints, groups: int) -> bool:
    return groups == 1 and len(counts) < 3 and (
        counts[-1] < min(SHORT, channels // CHANNELS_PER_STEP))


def copied_columns(xp: Any, view: Array, block: Block, groups: int) -> Array:
    """Copy the windows of a block to (groups, channels / groups * kernel, samples * steps)."""
    dims = view.ndim // 2 - 1
    chosen = view[(slice(None),) * (1 + dims) + block]
    before, after = chosen.shape[: 1 + dims], chosen.shape[1 + dims :]
    if not has_short_lines(view.shape[0], after, groups):
        columns = xp.empty(chosen.shape, view.dtype)
        columns[...] = chosen
        return columns.reshape(groups, prod(before) // groups, prod(after))
    turned = xp.empty((*after, *before), view.dtype)
    columns = turned.transpose(*range(1 + dims, view.ndim), *range(1 + dims))
    for position in kernel_positions(before[1:]):
        columns[(slice(None), *position)] = chosen[(slice(None), *position)]
    return turned.reshape(prod(after), prod(before)).T[None]


def columns_by_block(
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
    if is_pointwise(kernel, stride, padding) and tuple(counts) == x.shape[2:]:
        # The input is its own columns.
        samples = slices(batch, batch if prod(counts) >= MANY_STEPS else 1)
        blocks = [(some, slice(0, counts[0])) for some in samples]
        return lambda block: side_by_side(x, block, groups), blocks
    short = has_short_lines(channels, counts, groups)
    padded = pad(xp, x, padding, padding, channels_last=short)
    view = window_view(xp, padded, kernel, stride, dilation, counts)
    blocks = column_blocks(batch, channels * prod(kernel), counts, x.dtype.itemsize)
    return lambda block: copied_columns(xp, view, block, groups), blocks


def side_by_side(a: Array, block: Block, groups: int) -> Array:
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
