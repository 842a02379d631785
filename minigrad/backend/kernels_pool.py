"""Pooling over the trailing dimensions of an array: maximum, average and their adaptive forms.

Window arguments are tuples with one entry for each pooled dimension; all dimensions before those
are batch dimensions.  A "plane" is the part of an array that one batch entry pools over, and
indices count its elements in row-major order.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from .kernels_window import crop, kernel_positions, pad, position_slices

Array = Any
Ints = Sequence[int]

__all__ = [
    "adaptive_avg_pool_backward",
    "adaptive_avg_pool_forward",
    "adaptive_max_pool_forward",
    "avg_pool_backward",
    "avg_pool_forward",
    "max_pool_backward",
    "max_pool_forward",
    "max_pool_gather",
    "pool_output_sizes",
]


def _by(sizes: Sequence[int]) -> str:
    return "x".join(str(size) for size in sizes)


def pool_output_sizes(
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[int, ...]:
    """Return the steps of a pooling kernel; with `ceil_mode` the last may extend past the end.

    Raises `RuntimeError` if no step fits.

    >>> pool_output_sizes((6,), (3,), (2,), (0,), (1,), True)
    (3,)
    """
    counts = []
    for size, k, s, p, d in zip(sizes, kernel, stride, padding, dilation):
        room = size + 2 * p - d * (k - 1) - 1
        count = (room + (s - 1 if ceil_mode else 0)) // s + 1
        # A window must start inside the input or its left padding.
        counts.append(count - 1 if ceil_mode and (count - 1) * s >= size + p else count)
    if any(count < 1 for count in counts):
        raise RuntimeError(
            f"Given input size: ({_by(sizes)}). Calculated output size: ({_by(counts)}). "
            "Output size is too small"
        )
    return tuple(counts)


def _overhang(
    sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, counts: Ints
) -> list[int]:
    """Return how far the last window extends past the end, due to padding or ceil_mode."""
    return [
        max(0, (count - 1) * s + d * (k - 1) + 1 - size - p)
        for size, k, s, p, d, count in zip(sizes, kernel, stride, padding, dilation, counts)
    ]


# Planes are pooled in groups of this size: they stay in cache with their intermediate results.
_BLOCK_BYTES = 1 << 20

# Maximum


def max_pool_forward(
    xp: Any,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> tuple[Array, Array]:
    """Return the maximum of every window and its position in its plane, both (*lead, *steps).

    Positions are int64. The first of equal maxima counts; NaN is larger than everything, and the
    last NaN counts. Padding is never chosen.  Raises `RuntimeError` if no window fits.

    >>> from minigrad.backend import numpy_backend as xp
    >>> max_pool_forward(xp, numpy.array([1.0, 3, 3, 2]), (2,), (2,), (0,), (1,), False)
    (array([3., 3.]), array([1, 2]))
    """
    first = x.ndim - len(kernel)
    lead, sizes = x.shape[:first], x.shape[first:]
    counts = pool_output_sizes(sizes, kernel, stride, padding, dilation, ceil_mode)
    after = _overhang(sizes, kernel, stride, padding, dilation, counts)
    lowest = -xp.inf if x.dtype.kind == "f" else int(xp.iinfo(x.dtype).min)
    starts = [xp.arange(n) * s - p for n, s, p in zip(counts, stride, padding)]
    steps = [xp.arange(k) * d for k, d in zip(kernel, dilation)]
    # If a window holds only the lowest value, choose its first element that is not padding.
    inside = [
        xp.clip(start + (-start).clip(0) // -d * -d, 0, size - 1)
        for start, d, size in zip(starts, dilation, sizes)
    ]
    corner, first_inside = _flat_index(xp, starts, sizes), _flat_index(xp, inside, sizes)
    from_corner = _flat_index(xp, steps, sizes).reshape(-1)
    values, indices = xp.empty((*lead, *counts), x.dtype), xp.empty((*lead, *counts), xp.int64)
    planes, maxima, places = (a.reshape(prod(lead), *a.shape[first:]) for a in (x, values, indices))

    def pool(block: slice) -> None:
        padded = highest = pad(xp, planes[block], padding, after, lowest)
        # The maximum of a box is the maximum along one side of the maxima along the other.
        for axis, (k, s, d, n) in enumerate(zip(kernel, stride, dilation, counts), 1):
            highest = _max_along(xp, highest, axis, k, s, d, n)
        chosen = _chosen_positions(xp, padded, highest, kernel, stride, dilation)
        maxima[block] = highest
        xp.add(from_corner.take(chosen), corner, out=places[block])
        if any(padding) and (highest == lowest).any():
            places[block] = xp.where(highest == lowest, first_inside, places[block])

    step = max(1, _BLOCK_BYTES // max(1, prod(sizes) * x.dtype.itemsize))
    xp.for_each(pool, [slice(i, i + step) for i in range(0, prod(lead), step)])
    return values, indices


def _max_along(xp: Any, x: Array, axis: int, k: int, s: int, d: int, count: int) -> Array:
    """Return maxima of `k` elements along one axis, always as a new array."""
    first, *others = _slices_along(x, axis, k, s, d, count)
    if not others:
        return first.copy()
    result = xp.maximum(first, others[0])
    for other in others[1:]:
        xp.maximum(result, other, out=result)
    return result


def _slices_along(x: Array, axis: int, k: int, s: int, d: int, count: int) -> list[Array]:
    """Return the elements in `count` steps for each of `k` kernel positions along an axis."""
    before = (slice(None),) * axis
    return [x[(*before, position_slices((at,), (s,), (d,), (count,))[1])] for at in range(k)]


def _chosen_positions(
    xp: Any, padded: Array, values: Array, kernel: Ints, stride: Ints, dilation: Ints
) -> Array:
    """Return the first kernel position with the window's maximum, or the last one with NaN."""
    counts = values.shape[values.ndim - len(kernel) :]
    small = prod(kernel) <= 255
    chosen = xp.zeros(values.shape, xp.uint8 if small else xp.int64)
    missing = xp.ones(values.shape, bool)
    views = [
        padded[position_slices(position, stride, dilation, counts)]
        for position in kernel_positions(kernel)
    ]
    # A position's number is the count of misses before it, so no masked write is needed.
    for view in views[:-1]:
        missing &= view != values
        chosen += missing
    if padded.dtype.kind == "f" and xp.isnan(values).any():
        for number, view in enumerate(views):
            chosen[xp.isnan(view)] = number
    return chosen


def _flat_index(xp: Any, coordinates: Sequence[Array], sizes: Ints) -> Array:
    """Return positions in a plane of `sizes`, given one array of coordinates per dimension."""
    flat = xp.zeros((), xp.int64)
    for coordinate, size in zip(coordinates, sizes):
        flat = flat[..., None] * size + coordinate
    return flat


def max_pool_backward(xp: Any, g: Array, indices: Array, input_sizes: Ints, dims: int) -> Array:
    """Add each element of `g` at its window's maximum, in an array of `input_sizes`.

    `dims` is the number of trailing dimensions of a plane.

    >>> max_pool_backward(numpy, numpy.ones(2), numpy.array([1, 1]), (3,), 1)
    array([0., 2., 0.])
    """
    plane = prod(input_sizes[len(input_sizes) - dims :])
    planes = prod(input_sizes[: len(input_sizes) - dims])
    grad = xp.zeros(tuple(input_sizes), g.dtype)
    steps = prod(g.shape[g.ndim - dims :])
    positions = indices.reshape(planes, steps) + xp.arange(planes)[:, None] * plane
    add_at = getattr(xp, "add_at", xp.add.at)  # if the backend has its own
    add_at(grad.reshape(-1), positions.reshape(-1), g.reshape(-1))
    return grad


def max_pool_gather(xp: Any, x: Array, indices: Array, dims: int) -> Array:
    """Return the elements of each plane of `x` at `indices`, the transpose of `max_pool_backward`.

    >>> max_pool_gather(numpy, numpy.array([5.0, 6, 7]), numpy.array([2, 0]), 1)
    array([7., 5.])
    """
    lead = x.shape[: x.ndim - dims]
    planes = x.reshape(*lead, prod(x.shape[x.ndim - dims :]))
    places = indices.reshape(*lead, prod(indices.shape[indices.ndim - dims :]))
    return xp.take_along_axis(planes, places, -1).reshape(indices.shape)


# Average


def avg_pool_forward(
    xp: Any,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """Return the average of every window: (*lead, *steps).

    The divisor is `divisor_override` or else the number of the window's elements, which includes
    padding if `count_include_pad`, but never elements beyond the padding.  Raises `RuntimeError` if
    no window fits.

    >>> x = numpy.array([1.0, 3, 5])
    >>> avg_pool_forward(numpy, x, (2,), (2,), (0,), True, True, None)
    array([2., 5.])
    """
    first = x.ndim - len(kernel)
    sizes = x.shape[first:]
    ones = (1,) * len(kernel)
    counts = pool_output_sizes(sizes, kernel, stride, padding, ones, ceil_mode)
    total = pad(xp, x, padding, _overhang(sizes, kernel, stride, padding, ones, counts))
    for axis, k, s, n in zip(range(first, x.ndim), kernel, stride, counts):
        head, *others = _slices_along(total, axis, k, s, 1, n)
        total = head.copy()
        for other in others:
            total += other
    total /= _divisors(
        xp, sizes, kernel, stride, padding, counts, count_include_pad, divisor_override, x.dtype
    )
    return total


def avg_pool_backward(
    xp: Any,
    g: Array,
    input_sizes: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """Return the gradient of `avg_pool_forward`, with shape `input_sizes`, for `g` (*lead, *steps).

    >>> avg_pool_backward(numpy, numpy.ones(2), (3,), (2,), (1,), (0,), False, True, None)
    array([0.5, 1. , 0.5])
    """
    first = g.ndim - len(kernel)
    sizes, counts = input_sizes[first:], g.shape[first:]
    ones = (1,) * len(kernel)
    after = _overhang(sizes, kernel, stride, padding, ones, counts)
    spread = g / _divisors(
        xp, sizes, kernel, stride, padding, counts, count_include_pad, divisor_override, g.dtype
    )
    for at, (k, s, n) in enumerate(zip(kernel, stride, counts)):
        axis = first + at
        size = sizes[at] + padding[at] + after[at]
        wide = xp.zeros((*spread.shape[:axis], size, *spread.shape[axis + 1 :]), g.dtype)
        for part in _slices_along(wide, axis, k, s, 1, n):
            part += spread
        spread = wide
    return crop(xp, spread, padding, sizes)


def _divisors(
    xp: Any,
    sizes: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    counts: Ints,
    count_include_pad: bool,
    divisor_override: int | None,
    dtype: Any,
) -> Any:
    """Return the divisor of each window: a number, or an array to broadcast over windows."""
    if divisor_override is not None:
        return divisor_override
    extents = []
    for size, k, s, p, n in zip(sizes, kernel, stride, padding, counts):
        start = xp.arange(n) * s - p
        end = (start + k).clip(None, size + p)
        if not count_include_pad:
            start, end = start.clip(0), end.clip(None, size)
        extents.append(end - start)
    return _outer(extents, dtype)


def _outer(factors: Sequence[Array], dtype: Any) -> Array:
    result = factors[0]
    for factor in factors[1:]:
        result = result[..., None] * factor
    return result.astype(dtype)


# Adaptive


def _adaptive_bounds(size: int, count: int) -> list[tuple[int, int]]:
    """Return start and end of the `count` windows that share `size` elements; they may overlap."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _adaptive_divisors(xp: Any, sizes: Ints, counts: Ints, dtype: Any) -> Array:
    bounds = [_adaptive_bounds(size, n) for size, n in zip(sizes, counts)]
    return _outer([xp.asarray([e - b for b, e in dim], xp.int64) for dim in bounds], dtype)


def _divides(sizes: Ints, counts: Ints) -> bool:
    """Return whether all windows have the same size and do not overlap, as in ordinary pooling."""
    return all(n and size and size % n == 0 for size, n in zip(sizes, counts))


def adaptive_avg_pool_forward(xp: Any, x: Array, output_sizes: Ints) -> Array:
    """Average `output_sizes` windows spread evenly over each plane: (*lead, *output_sizes).

    >>> adaptive_avg_pool_forward(numpy, numpy.array([1.0, 2, 6]), (2,))
    array([1.5, 4. ])
    """
    first = x.ndim - len(output_sizes)
    sizes = x.shape[first:]
    if all(n == 1 for n in output_sizes):
        # A single sum over a plane is several times faster than one axis after the other.
        means = xp.sum(x.reshape(*x.shape[:first], prod(sizes)), -1) / prod(sizes)
        return means.reshape(*x.shape[:first], *output_sizes)
    if _divides(sizes, output_sizes):
        kernel = [size // n for size, n in zip(sizes, output_sizes)]
        return avg_pool_forward(xp, x, kernel, kernel, (0,) * len(sizes), False, True, None)
    total = x
    for axis in reversed(range(first, x.ndim)):
        n = output_sizes[axis - first]
        parts = xp.empty((*total.shape[:axis], n, *total.shape[axis + 1 :]), x.dtype)
        lead = (slice(None),) * axis
        for i, (begin, end) in enumerate(_adaptive_bounds(x.shape[axis], n)):
            parts[(*lead, i)] = xp.sum(total[(*lead, slice(begin, end))], axis)
        total = parts
    return total / _adaptive_divisors(xp, sizes, output_sizes, x.dtype)


def adaptive_avg_pool_backward(xp: Any, g: Array, input_sizes: Ints, dims: int) -> Array:
    """Return the gradient of `adaptive_avg_pool_forward`, with shape `input_sizes`.

    `dims` is the number of pooled trailing dimensions.

    >>> adaptive_avg_pool_backward(numpy, numpy.ones(2), (3,), 1)
    array([0.5, 1. , 0.5])
    """
    first = g.ndim - dims
    spread = g / _adaptive_divisors(xp, input_sizes[first:], g.shape[first:], g.dtype)
    for axis in range(first, g.ndim):
        size, n = input_sizes[axis], g.shape[axis]
        lead = (slice(None),) * axis
        wide = xp.zeros((*spread.shape[:axis], size, *spread.shape[axis + 1 :]), g.dtype)
        for i, (begin, end) in enumerate(_adaptive_bounds(size, n)):
            wide[(*lead, slice(begin, end))] += spread[(*lead, slice(i, i + 1))]
        spread = wide
    return spread


def adaptive_max_pool_forward(xp: Any, x: Array, output_sizes: Ints) -> tuple[Array, Array]:
    """Return maxima of evenly spread windows and their int64 positions in their planes.

    Ties and NaN count as in `max_pool_forward`; `max_pool_backward` computes the gradient.

    >>> from minigrad.backend import numpy_backend as xp
    >>> adaptive_max_pool_forward(xp, numpy.array([1.0, 2, 6]), (2,))
    (array([2., 6.]), array([1, 2]))
    """
    dims = len(output_sizes)
    lead, sizes = x.shape[: x.ndim - dims], x.shape[x.ndim - dims :]
    if _divides(sizes, output_sizes):
        kernel = [size // n for size, n in zip(sizes, output_sizes)]
        return max_pool_forward(xp, x, kernel, kernel, (0,) * dims, (1,) * dims, False)
    values = xp.empty((*lead, *output_sizes), x.dtype)
    indices = xp.empty((*lead, *output_sizes), xp.int64)
    plane = xp.arange(prod(sizes)).reshape(sizes)
    for cell, box in _adaptive_boxes(sizes, output_sizes):
        places = plane[box].reshape(-1)
        window = x[(..., *box)].reshape(*lead, places.size)
        at = xp.argmax(window, -1)
        if x.dtype.kind == "f":
            nan = xp.isnan(window)
            last = window.shape[-1] - 1 - xp.argmax(nan[..., ::-1], -1)
            at = xp.where(nan.any(-1), last, at)
        values[(..., *cell)] = xp.take_along_axis(window, at[..., None], -1)[..., 0]
        indices[(..., *cell)] = places[at]
    return values, indices


def _adaptive_boxes(
    sizes: Ints, counts: Ints
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Yield each output cell with the slices of its window."""
    bounds = [list(enumerate(_adaptive_bounds(size, n))) for size, n in zip(sizes, counts)]
    for chosen in product(*bounds):
        cell, edges = zip(*chosen)
        yield cell, tuple(slice(begin, end) for begin, end in edges)
