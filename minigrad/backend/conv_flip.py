"""The input gradient of a convolution as another convolution, with the flipped weight."""

from collections.abc import Sequence
from math import prod
from typing import Any

Array = Any
Ints = Sequence[int]

__all__ = ["flip_pays", "flipped"]


def flip_pays(
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


def flipped(xp: Any, weight: Array, groups: int) -> Array:
    """Return the weight of the reverse convolution: channels swapped, kernel mirrored."""
    out_channels, in_group, *kernel = weight.shape
    grouped = weight.reshape(groups, out_channels // groups, in_group, *kernel)
    mirrored = xp.flip(grouped.swapaxes(1, 2), tuple(range(3, 3 + len(kernel))))
    return mirrored.reshape(groups * in_group, out_channels // groups, *kernel)
