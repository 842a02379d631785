# Stage 04c, Convolution: the exercise for minigrad/backend/kernels_window.py.
# Made by `minigrad dev build`. The lesson is lessons/04c_convolution.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04c
# docs/en/glossary.md explains the names used inside the package.

"""Windows that slide over the trailing dimensions of an array.

Convolution and pooling use the same windows: a kernel moves in steps of `stride` and reads every
`dilation`-th element.  This module counts the steps, creates a view of all windows, and adds
windows back to their positions.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

Array = Any

__all__ = [
    "add_windows",
    "conv_output_sizes",
    "crop",
    "kernel_positions",
    "pad",
    "position_slices",
    "windows",
    "zeros",
]


def kernel_too_large(padded: Sequence[int], reach: Sequence[int]) -> RuntimeError:
    """Return the error for a kernel that is larger than its padded input."""
    return RuntimeError(
        "Calculated padded input size per channel: "
        f"({' x '.join(map(str, padded))}). Kernel size: ({' x '.join(map(str, reach))}). "
        "Kernel size can't be greater than actual input size"
    )


def conv_output_sizes(
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[int, ...]:
    """Return the number of steps of a convolution kernel in each spatial dimension.

    Raises `RuntimeError` if the kernel is larger than the padded input.

    >>> conv_output_sizes((7, 7), (3, 3), (2, 2), (1, 1), (1, 1))
    (4, 4)
    """
    # 04c.1 How many steps fit (about 5 lines)
    # Return the number of steps that a kernel takes in each dimension. Item i of each of
    # the five sequences belongs to dimension i.
    #   size 9, kernel 3, stride 2, padding 0, dilation 1          -> 4
    #   size 8, kernel 3, stride 2, padding 0, dilation 1          -> 3: only complete steps
    #   size 9, kernel 3, stride 2, padding 1, dilation 2          -> 4
    #   conv_output_sizes((5, 7), (3, 2), (1, 3), (1, 0), (1, 2))  -> (5, 2)
    # Mind:
    # - Padding is on both sides.
    # - With a dilation, count how far the kernel reaches from its first to its last
    #   element.
    # - Raise if the kernel reaches further than its padded input in any dimension.
    # Use: `raise kernel_too_large(padded, reach)` with the padded sizes and the reaches.
    raise NotImplementedError("04c.1 How many steps fit is yours to write")


def zeros(xp: Any, shape: Sequence[int], dtype: Any, channels_last: bool = False) -> Array:
    """Return zeros of (batch, channels, *spatial); `channels_last` makes channels adjacent.

    >>> from minigrad.backend import numpy_backend as xp
    >>> zeros(xp, (1, 2, 3), xp.float32, channels_last=True).strides
    (24, 4, 8)
    """
    if not channels_last:
        return xp.zeros(shape, dtype)
    return xp.moveaxis(xp.zeros((shape[0], *shape[2:], shape[1]), dtype), -1, 1)


def filled(
    xp: Any, shape: Sequence[int], value: float | int, dtype: Any, channels_last: bool = False
) -> Array:
    """Return an array filled with `value`; `channels_last` applies only to zeros."""
    return zeros(xp, shape, dtype, channels_last) if value == 0 else xp.full(shape, value, dtype)


def pad(
    xp: Any,
    x: Array,
    before: Sequence[int],
    after: Sequence[int],
    value: float | int = 0,
    channels_last: bool = False,
) -> Array:
    """Surround the trailing dimensions of `x` with `value`; return `x` if there is no padding.

    With `channels_last`, which applies only to zeros, channels are adjacent in memory.

    >>> pad(numpy, numpy.ones(2), (1,), (2,))
    array([0., 1., 1., 0., 0.])
    """
    # 04c.2 Padding and cropping (about 12 lines)
    # `pad` surrounds the trailing dimensions of `x`, as many as `before` has items, with
    # `value`: it puts `before[i]` elements in front and `after[i]` at the end. `crop`
    # cuts out `sizes` elements, starting at `before`.
    #   pad(xp, [1, 2], (1,), (2,))            -> [0, 1, 2, 0, 0]
    #   pad(xp, [[1, 2]], (1, 0), (0, 2), 7)   -> [[7, 7, 7, 7], [1, 2, 7, 7]]
    #   crop(xp, [0, 1, 2, 0, 0], (1,), (2,))  -> [1, 2]
    # Mind:
    # - If there's no padding, `pad` returns `x` itself.
    # - The result has the dtype of `x`.
    # - `crop` returns contiguous arrays.
    # Use: `filled(xp, shape, value, dtype, channels_last)`; `xp.ascontiguousarray`.
    raise NotImplementedError("04c.2 Padding and cropping is yours to write")


def crop(xp: Any, padded: Array, before: Sequence[int], sizes: Sequence[int]) -> Array:
    """Cut `sizes` trailing elements out of `padded`, contiguous: the inverse of `pad`.

    >>> crop(numpy, numpy.arange(5), (1,), (2,))
    array([1, 2])
    """
    # 04c.2 Padding and cropping: see the task at `pad`.
    raise NotImplementedError("04c.2 Padding and cropping is yours to write")


def kernel_positions(kernel: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the positions inside a kernel, with the last dimension fastest.

    >>> list(kernel_positions((1, 2)))
    [(0, 0), (0, 1)]
    """
    return product(*(range(size) for size in kernel))


def position_slices(
    position: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    counts: Sequence[int],
) -> tuple[Any, ...]:
    """Return the key that selects one kernel position over all `counts` steps.

    >>> position_slices((1,), (2,), (1,), (3,))
    (Ellipsis, slice(1, 6, 2))
    """
    # 04c.3 All windows at once (about 14 lines)
    # At step i, kernel position k looks at element i * stride + k * dilation of each
    # trailing dimension. `position_slices` returns the key for everything that one
    # position looks at over `counts` steps. `windows` returns a view of what all
    # positions look at, of shape (*leading dimensions, *kernel, *counts).
    #   position_slices((1,), (3,), (2,), (4,))                   -> elements 2, 5, 8, 11
    #   windows(xp, [5, 6, 7, 8, 9, 10], (2,), (3,), (2,), (2,))  -> [[5, 8], [7, 10]]
    # Mind:
    # - A key begins with `...`, and its slice is empty for a count of 0.
    # - `windows` doesn't copy, and `x` may have any strides.
    # Use: `xp.lib.stride_tricks.as_strided(x, shape, strides)`, with strides in bytes.
    raise NotImplementedError("04c.3 All windows at once is yours to write")


def windows(
    xp: Any,
    x: Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    counts: Sequence[int],
) -> Array:
    """View every window of `x` with shape `(*lead, *kernel, *counts)`, without copying.

    `counts` must be small enough for the last window to fit; `x` must be padded already.

    >>> windows(numpy, numpy.arange(4), (2,), (1,), (1,), (3,))
    array([[0, 1, 2],
           [1, 2, 3]])
    """
    # 04c.3 All windows at once: see the task at `position_slices`.
    raise NotImplementedError("04c.3 All windows at once is yours to write")


def add_windows(
    target: Array, values: Array, stride: Sequence[int], dilation: Sequence[int]
) -> Array:
    """Add windows, laid out as in `windows`, back into `target`, in place.

    Windows overlap, but the elements of one kernel position do not, so a plain `+=` for each kernel
    position is exact.

    >>> add_windows(numpy.zeros(4), numpy.ones((2, 3)), (1,), (1,))
    array([1., 2., 2., 1.])
    """
    # 04c.4 Adding windows back (about 8 lines)
    # `values` has the layout that `windows` returns. Add each of its elements in place to
    # the element of `target` that it looks at, and return `target`.
    #   add_windows([0, 0, 0], [[1, 2], [10, 20]], (1,), (1,))  -> [1, 12, 20]
    #   add_windows([5, 5, 5, 5, 5, 5], [[1, 2], [10, 20]], (3,), (2,))
    #       -> [6, 5, 15, 7, 5, 25]
    # Mind:
    # - Windows overlap, and every value counts.
    # - `len(stride)` is the number of trailing dimensions; leading dimensions stay
    #   separate.
    # Use: `kernel_positions(kernel)` for all positions of a kernel; `position_slices`.
    raise NotImplementedError("04c.4 Adding windows back is yours to write")
