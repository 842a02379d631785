# Stage 04c, Convolution: the exercise for minigrad/backend/kernels_window.py.
# Made by `minigrad dev build`. The lesson is lessons/04c_convolution.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04c
# Names of the package's inside are explained in docs/en/glossary.md.

"""Windows sliding over the trailing dimensions of an array.

Convolution and pooling use the same windows: a kernel of some size moves in steps of `stride` and
reads every `dilation`-th element.  This module counts the steps, makes a view of all windows, and
adds windows back to their places.
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
    "pool_output_sizes",
    "position_slices",
    "windows",
    "zeros",
]


def _by(sizes: Sequence[int]) -> str:
    return "x".join(str(size) for size in sizes)


def conv_output_sizes(
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[int, ...]:
    """The number of steps of a convolution kernel in each spatial dimension.

    Raises RuntimeError if the kernel is larger than the padded input.

    >>> conv_output_sizes((7, 7), (3, 3), (2, 2), (1, 1), (1, 1))
    (4, 4)
    """
    # 04c.1 How many steps fit (about 20 lines)
    # `conv_output_sizes(sizes, kernel, stride, padding, dilation)`: five sequences with a
    # number for each spatial dimension; return a tuple of how many steps the kernel takes
    # in each. The input is padded by `padding` on both sides. A kernel of size k reaches
    # over d * (k - 1) + 1 elements with dilation d. It starts at the first element and
    # moves by the stride as long as it fits. Where a kernel reaches further than its
    # padded input, raise RuntimeError `Calculated padded input size per channel: (7 x 2).
    # Kernel size: (3 x 5). Kernel size can't be greater than actual input size`, the
    # padded sizes first and the reaches (with dilation) second. `pool_output_sizes(...,
    # ceil_mode)` counts the same way; with `ceil_mode` a last window may hang over the
    # end (round up), but no window may start behind the input and its left padding: where
    # step i = count - 1 starts at i * s >= size + p, there is one less. It does not
    # compare reaches; where a count is below one, raise RuntimeError `Given input size:
    # (5x2). Calculated output size: (3x-1). Output size is too small` (`_by` joins sizes
    # with x).
    raise NotImplementedError("04c.1 How many steps fit is yours to write")


def pool_output_sizes(
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[int, ...]:
    """The number of steps of a pooling kernel; with `ceil_mode` the last one may pass the end.

    Raises RuntimeError if no step fits.

    >>> pool_output_sizes((6,), (3,), (2,), (0,), (1,), True)
    (3,)
    """
    # 04c.1 How many steps fit: see the task at `conv_output_sizes`.
    raise NotImplementedError("04c.1 How many steps fit is yours to write")


def zeros(xp: Any, shape: Sequence[int], dtype: Any, channels_last: bool = False) -> Array:
    """Zeros of (batch, channels, *spatial); with `channels_last` channels are adjacent in memory.

    >>> from minigrad.backend import numpy_backend as xp
    >>> zeros(xp, (1, 2, 3), xp.float32, channels_last=True).strides
    (24, 4, 8)
    """
    if not channels_last:
        return xp.zeros(shape, dtype)
    return xp.moveaxis(xp.zeros((shape[0], *shape[2:], shape[1]), dtype), -1, 1)


def pad(
    xp: Any,
    x: Array,
    before: Sequence[int],
    after: Sequence[int],
    value: float | int = 0,
    channels_last: bool = False,
) -> Array:
    """Surrounds the trailing dimensions of `x` with `value`; `x` itself if nothing is added.

    `channels_last`, for zeros only, lays channels next to each other in memory.

    >>> pad(numpy, numpy.ones(2), (1,), (2,))
    array([0., 1., 1., 0., 0.])
    """
    # 04c.2 Padding, and cutting it off again (about 15 lines)
    # `pad(xp, x, before, after, value, channels_last)`: surround the trailing dimensions
    # of the array `x` (as many as `before` has items) with `before[i]` elements in front
    # and `after[i]` behind, all `value`; the dtype stays. Where nothing is added, return
    # `x` itself. With `channels_last` (for zeros only) the memory is to come from
    # `zeros(xp, shape, dtype, channels_last)`, the function above. `crop(xp, padded,
    # before, sizes)` undoes it: cut `sizes` elements out of the trailing dimensions, from
    # `before` on, and return them contiguous (`xp.ascontiguousarray`).
    raise NotImplementedError("04c.2 Padding, and cutting it off again is yours to write")


def crop(xp: Any, padded: Array, before: Sequence[int], sizes: Sequence[int]) -> Array:
    """Cuts `sizes` trailing elements out of `padded`, contiguous: the inverse of `pad`.

    >>> crop(numpy, numpy.arange(5), (1,), (2,))
    array([1, 2])
    """
    # 04c.2 Padding, and cutting it off again: see the task at `pad`.
    raise NotImplementedError("04c.2 Padding, and cutting it off again is yours to write")


def kernel_positions(kernel: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The positions inside a kernel, last dimension fastest.

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
    """The key of the elements of one kernel position over all `counts` steps.

    >>> position_slices((1,), (2,), (1,), (3,))
    (Ellipsis, slice(1, 6, 2))
    """
    # 04c.3 All windows at once (about 14 lines)
    # A window at step i and position k of the kernel looks at element i * stride + k *
    # dilation. `position_slices(position, stride, dilation, counts)` returns the key, a
    # tuple of `...` and a slice for each dimension, of the elements that *one position*
    # meets over all `counts` steps; for a count of 0 the slice is empty. `windows(xp, x,
    # kernel, stride, dilation, counts)` returns a view (nothing copied) of shape
    # (*leading dimensions, *kernel, *counts) of all windows over the trailing dimensions
    # of `x`: `xp.lib.stride_tricks.as_strided(x, shape, strides)` makes it, with strides
    # in bytes. `x` is padded already and may have any strides; `counts` fits.
    raise NotImplementedError("04c.3 All windows at once is yours to write")


def windows(
    xp: Any,
    x: Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    counts: Sequence[int],
) -> Array:
    """A view of every window of `x`, shape `(*lead, *kernel, *counts)`; no element is copied.

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
    """Adds windows, laid out as `windows` shows them, back into `target`, in place.

    Windows overlap, but the elements of one kernel position do not, so a plain `+=` for each kernel
    position is exact.

    >>> add_windows(numpy.zeros(4), numpy.ones((2, 3)), (1,), (1,))
    array([1., 2., 2., 1.])
    """
    # 04c.4 Adding windows back (about 8 lines)
    # `add_windows(target, values, stride, dilation)`: `values` has the shape that
    # `windows` shows, (*leading dimensions, *kernel, *counts). Add each of its elements
    # to the element of `target` that it looks at, in place, and return `target`. Windows
    # overlap, so an element may get several; each counts. `len(stride)` is the number of
    # trailing dimensions; `kernel_positions(kernel)` yields all positions.
    raise NotImplementedError("04c.4 Adding windows back is yours to write")
