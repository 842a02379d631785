"""The input gradient of a convolution with a stride of two or more, on the CPU.

NOTE [One remainder at a time]
    A window's element at position `p` belongs to the input's element `stride * step + p`.  So all
    positions `p` that leave the same remainder, divided by the stride, add up in one array of the
    steps, each shifted by `p // stride` steps.  The steps are surrounded by zeros and flat in
    memory, so a shift just means to start later, and a sum needs no loop over lines.  In the input
    these sums are `stride` apart, and are written once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import prod
from typing import Any

from .conv_columns import column_blocks
from .kernels_window import kernel_positions

Array = Any
Ints = Sequence[int]

__all__ = ["conv_grad_input", "suits"]

# Maximum factor by which the surrounding zeros may enlarge the steps.
_SURROUNDED = 1.25
# Lines with fewer steps are too short.
_SHORT = 8


def suits(weight: Array, counts: Ints, stride: Ints, dilation: Ints) -> bool:
    """Return whether `conv_grad_input` is faster; see NOTE [One remainder at a time]."""
    wide = _surrounded(weight.shape[2:], counts, stride, dilation)
    return prod(stride) > 1 and counts[-1] >= _SHORT and (
        prod(wide) <= _SURROUNDED * prod(counts))


def conv_grad_input(xp: Any, g: Array, weight: Array, input_sizes: Ints, stride: Ints,
                    padding: Ints, dilation: Ints, groups: int) -> Array:
    """Compute `kernels_conv.conv_grad_input` for a finite weight."""
    batch, channels, *sizes = input_sizes
    out_channels, _, *kernel = weight.shape
    counts = g.shape[2:]
    wide = _surrounded(kernel, counts, stride, dilation)
    rows = weight.reshape(groups, out_channels // groups, -1).swapaxes(1, 2)
    grad = xp.zeros(tuple(input_sizes), xp.result_type(g, weight))
    remainders = _positions_by_remainder(kernel, stride, dilation, wide)
    for samples, lines in column_blocks(batch, channels * prod(kernel), counts, grad.itemsize):
        if lines.start:
            continue  # windows of one sample overlap, so do not split its steps
        number = samples.stop - samples.start
        steps = xp.zeros((out_channels, number, *wide), g.dtype)
        steps[(..., *map(slice, counts))] = g[samples].swapaxes(0, 1)
        columns = xp.matmul(rows, steps.reshape(groups, out_channels // groups, -1))
        columns = columns.reshape(channels, prod(kernel), number * prod(wide))
        target = grad[samples].swapaxes(0, 1)
        for remainder, places in remainders.items():
            total = xp.zeros((channels, columns.shape[2]), grad.dtype)
            for place, later in places:
                total[:, later:] += columns[:, place, : columns.shape[2] - later]
            _write(target, total.reshape(channels, number, *wide), remainder, stride, padding,
                   sizes)
    return grad


def _surrounded(kernel: Ints, counts: Ints, stride: Ints, dilation: Ints) -> tuple[int, ...]:
    """Return the sizes of the steps including the surrounding zeros."""
    return tuple([n + d * (k - 1) // s for n, k, s, d in zip(counts, kernel, stride, dilation)])


def _positions_by_remainder(
    kernel: Ints, stride: Ints, dilation: Ints, wide: Ints
) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """Return the kernel's positions by remainder, each with its shift in flat steps."""
    found = defaultdict(list)
    for place, position in enumerate(kernel_positions(kernel)):
        pairs = [divmod(p * d, s) for p, d, s in zip(position, dilation, stride)]
        later = sum(moved * prod(wide[i + 1:]) for i, (moved, _) in enumerate(pairs))
        found[tuple([remainder for _, remainder in pairs])].append((place, later))
    return found


def _write(target: Array, total: Array, remainder: Ints, stride: Ints, padding: Ints,
           sizes: Ints) -> None:
    """Write the sums of one remainder to their positions, without the padding."""
    there, here = [], []
    for r, s, p, size, n in zip(remainder, stride, padding, sizes, total.shape[2:]):
        first = max(0, -(-(p - r) // s))
        start = r + s * first - p
        count = max(0, min(n - first, -(-(size - start) // s)))
        there.append(slice(start, start + s * count, s))
        here.append(slice(first, first + count))
    target[(..., *there)] = total[(..., *here)]
