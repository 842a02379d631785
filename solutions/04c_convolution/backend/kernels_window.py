# Stage 04c, Convolution: the solution for minigrad/backend/kernels_window.py.
# Made by `minigrad dev build`. The lesson is lessons/04c_convolution.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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
    padded = [size + 2 * p for size, p in zip(sizes, padding)]
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    if any(r > size for r, size in zip(reach, padded)):
        raise kernel_too_large(padded, reach)
    return tuple((size - r) // s + 1 for size, r, s in zip(padded, reach, stride))


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
    if not any(before) and not any(after):
        return x
    lead = x.shape[: x.ndim - len(before)]
    sizes = x.shape[x.ndim - len(before) :]
    shape = lead + tuple(b + size + a for b, size, a in zip(before, sizes, after))
    padded = filled(xp, shape, value, x.dtype, channels_last)
    padded[(..., *(slice(b, b + size) for b, size in zip(before, sizes)))] = x
    return padded


def crop(xp: Any, padded: Array, before: Sequence[int], sizes: Sequence[int]) -> Array:
    """Cut `sizes` trailing elements out of `padded`, contiguous: the inverse of `pad`.

    >>> crop(numpy, numpy.arange(5), (1,), (2,))
    array([1, 2])
    """
    if padded.shape[padded.ndim - len(sizes):] == tuple(sizes):  # not a view
        return xp.ascontiguousarray(padded)
    key = (..., *(slice(b, b + size) for b, size in zip(before, sizes)))
    return xp.ascontiguousarray(padded[key])


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
    slices = []
    for at, s, d, count in zip(position, stride, dilation, counts):
        first = at * d
        slices.append(slice(first, first + s * (count - 1) + 1 if count else first, s))
    return (..., *slices)


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
    lead = x.ndim - len(kernel)
    steps = x.strides[lead:]
    return xp.lib.stride_tricks.as_strided(
        x,
        x.shape[:lead] + tuple(kernel) + tuple(counts),
        x.strides[:lead]
        + tuple(step * d for step, d in zip(steps, dilation))
        + tuple(step * s for step, s in zip(steps, stride)),
    )


def add_windows(
    target: Array, values: Array, stride: Sequence[int], dilation: Sequence[int]
) -> Array:
    """Add windows, laid out as in `windows`, back into `target`, in place.

    Windows overlap, but the elements of one kernel position do not, so a plain `+=` for each kernel
    position is exact.

    >>> add_windows(numpy.zeros(4), numpy.ones((2, 3)), (1,), (1,))
    array([1., 2., 2., 1.])
    """
    dims = len(stride)
    lead = target.ndim - dims
    kernel = values.shape[lead : lead + dims]
    counts = values.shape[lead + dims :]
    everything = (slice(None),) * lead
    for position in kernel_positions(kernel):
        target[position_slices(position, stride, dilation, counts)] += values[everything + position]
    return target
