# Stage 04b, Reductions, matrix products, indices: the exercise for minigrad/backend/kernels_index.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04b
# docs/en/glossary.md explains the names used inside the package.

"""Writes to many positions of an array: scatter, accumulate, strided windows.

If an index may repeat, adding in place needs `xp.add.at`, which is several times faster in one
dimension than in several. Therefore each function first computes flat positions.  Indices must be
in range, and non-negative unless a function says otherwise; targets must not overlap themselves.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

from .kernels_window import position_slices

Array = Any
Ints = Sequence[int]

__all__ = [
    "as_strided_add",
    "as_strided_scatter",
    "index_add",
    "put_accumulate",
    "scatter_add",
    "scatter_combined",
    "scatter_write",
    "unfold",
    "unfold_backward",
]


def _along(values: Array, axis: int, ndim: int) -> Array:
    """Reshape a vector to broadcast along one axis of arrays with `ndim` dimensions."""
    return values.reshape((1,) * axis + (-1,) + (1,) * (ndim - axis - 1))


def _positions(xp: Any, sizes: Ints, dim: int, index: Array) -> Array:
    """Return flat positions in an array of `sizes`, with `index` in place of `dim`'s own index.

    `index` has as many dimensions as `sizes` and may be smaller in each.
    """
    # 04b.6 Repeated indices (about 19 lines)
    # Add to the elements that an index names. `_positions` returns the flat (row-major)
    # position of each of them: along `dim`, it's the value in `index`, and along the
    # other dimensions, the place of that value. `_add_at` adds `values` at such
    # positions, and `scatter_add` adds `source`, both in place.
    #   _positions(xp, (2, 3), 0, [[1, 0, 1]])           -> [[3, 1, 5]]
    #   _add_at(xp, [10, 20, 30], [1, 1, 2], [3, 4, 5])  -> [10, 27, 35], the same array
    #   scatter_add(xp, [0, 0, 0], 0, [1, 1], [2, 3])    -> [0, 5, 0], the same array
    # Mind:
    # - A target may have any memory layout, and it may be 0-d in `scatter_add`.
    # - `values` broadcast to the positions' shape and take the target's dtype.
    # - The `dim` of `scatter_add` may be negative.
    # Use: `_along(values, axis, ndim)`, given above.
    raise NotImplementedError("04b.6 Repeated indices is yours to write")


def _add_at(xp: Any, target: Array, positions: Array, values: Array) -> Array:
    """Compute `target.flat[positions] += values`, counting repeated positions; return `target`."""
    # 04b.6 Repeated indices: see the task at `_positions`.
    raise NotImplementedError("04b.6 Repeated indices is yours to write")


def scatter_add(xp: Any, target: Array, dim: int, index: Array, source: Array) -> Array:
    """Compute `target[..., index[i], ...] += source[i]` along `dim` in place; return `target`.

    `index` has the dimensions of `target` and may be smaller; then only that part of `source` is
    used. A 0-d `target` gets the sum of `source`.

    >>> scatter_add(numpy, numpy.zeros(3), 0, numpy.array([1, 1]), numpy.array([2.0, 3]))
    array([0., 5., 0.])
    """
    # 04b.6 Repeated indices: see the task at `_positions`.
    raise NotImplementedError("04b.6 Repeated indices is yours to write")


def scatter_combined(
    xp: Any, target: Array, dim: int, index: Array, source: Array, combine: str
) -> Array:
    """Like `scatter_add`, but combine by "multiply", "maximum" or "minimum".

    >>> target, index = numpy.ones(3), numpy.array([1, 1])
    >>> scatter_combined(numpy, target, 0, index, numpy.array([2.0, 3]), "multiply")
    array([1., 6., 1.])
    """
    if target.ndim == 0:
        scatter_combined(xp, target.reshape(1), 0, index.reshape(-1), source.reshape(-1), combine)
        return target
    covered = source[tuple(slice(size) for size in index.shape)]
    positions = _positions(xp, target.shape, dim % target.ndim, index)
    flat, ufunc = target.reshape(-1), getattr(xp, combine)
    combine_at = getattr(xp, "combine_at", lambda ufunc, *args: ufunc.at(*args))
    combine_at(ufunc, flat, positions.reshape(-1), covered.reshape(-1))
    if not target.flags.c_contiguous:
        target[...] = flat.reshape(target.shape)
    return target


def scatter_write(xp: Any, target: Array, dim: int, index: Array, source: Array) -> Array:
    """Compute `target[..., index[i], ...] = source[i]` along `dim` in place; return `target`.

    It works like `scatter_add`, but for a repeated index one of the writes wins; `source` may be a
    number.

    >>> scatter_write(numpy, numpy.zeros(3), 0, numpy.array([1]), numpy.array([2.0, 3]))
    array([0., 2., 0.])
    """
    source = xp.asarray(source, target.dtype)
    if target.ndim == 0:
        if index.size:
            target[...] = source.reshape(-1)[0]
        return target
    if source.ndim:
        source = source[tuple(slice(size) for size in index.shape)]
    positions = _positions(xp, target.shape, dim % target.ndim, index)
    flat = target.reshape(-1)
    flat[positions] = source
    if not target.flags.c_contiguous:
        target[...] = flat.reshape(target.shape)
    return target


def index_add(xp: Any, target: Array, dim: int, index: Array, source: Array) -> Array:
    """Add the slices of `source` along `dim` to those in `target` that `index` selects.

    Works in place and returns `target`.  `source` broadcasts to `target`'s shape with `len(index)`
    at `dim`.

    >>> index_add(numpy, numpy.zeros((2, 2)), 0, numpy.array([1, 1]), numpy.ones((2, 2)))
    array([[0., 0.],
           [2., 2.]])
    """
    if target.ndim == 0:
        target += source.sum(dtype=target.dtype)
        return target
    dim %= target.ndim
    shape = (*target.shape[:dim], index.size, *target.shape[dim + 1 :])
    along = xp.broadcast_to(_along(index, dim, target.ndim), shape)
    return _add_at(xp, target, _positions(xp, target.shape, dim, along), source)


def put_accumulate(xp: Any, target: Array, key: Any, values: Array) -> Array:
    """Compute `target[key] += values`, counting repeated positions, for any NumPy key.

    Returns `target`. Negative indices count from the end.  Raises `IndexError` if NumPy's indexing
    would.

    >>> put_accumulate(numpy, numpy.zeros(3), numpy.array([0, -1, 0]), 1.0)
    array([2., 0., 1.])
    """
    parts = key if isinstance(key, tuple) else (key,)
    if all(_names_each_place_once(part) for part in parts):
        target[key] += values
        return target
    return _add_at(xp, target, _key_positions(xp, target.shape, parts), xp.asarray(values))


def _names_each_place_once(part: Any) -> bool:
    if part is None or part is Ellipsis or isinstance(part, (bool, int, slice)):
        return True
    dtype = getattr(part, "dtype", None)
    return dtype is not None and dtype.kind == "b"


def _key_positions(xp: Any, shape: Ints, parts: tuple[Any, ...]) -> Array:
    """Return the flat positions that a NumPy key selects in an array of `shape`.

    It indexes arrays of coordinates, so NumPy takes care of wrapping, bounds and the result's
    shape. These are broadcast views, so no array of the indexed size is allocated.
    """
    if len(parts) == 1 and getattr(parts[0], "dtype", None) is not None:
        # The common case, an array that indexes the first dimension: the other dimensions stay.
        chosen = xp.arange(shape[0])[parts[0]]
        whole = xp.arange(prod(shape[1:])).reshape(shape[1:])
        return chosen.reshape(chosen.shape + (1,) * whole.ndim) * whole.size + whole
    flat = xp.zeros((), xp.int64)
    for axis, size in enumerate(shape):
        own = _along(xp.arange(size), axis, len(shape))
        flat = flat + xp.broadcast_to(own, shape)[parts] * prod(shape[axis + 1 :])
    return flat


# Strided windows


def _strided(xp: Any, flat_storage: Array, sizes: Ints, strides: Ints, offset: int) -> Array:
    """View a flat array with strides in elements; `RuntimeError` if the view would leave it."""
    if 0 not in sizes:
        needed = offset + 1 + sum((size - 1) * step for size, step in zip(sizes, strides))
        if needed > flat_storage.size:
            itemsize = flat_storage.itemsize
            raise RuntimeError(
                f"setStorage: sizes {list(sizes)}, strides {list(strides)}, "
                f"storage offset {offset}, and itemsize {itemsize} requiring a storage size of "
                f"{needed * itemsize} are out of bounds for storage of size "
                f"{flat_storage.size * itemsize}"
            )
    step = flat_storage.strides[0]
    return xp.lib.stride_tricks.as_strided(
        flat_storage[offset:], tuple(sizes), tuple(step * stride for stride in strides)
    )


def as_strided_scatter(
    xp: Any, flat_storage: Array, values: Array, sizes: Ints, strides: Ints, offset: int
) -> Array:
    """Write `values` (`sizes`) to the view with `strides` and `offset`, in elements, in place.

    Returns `flat_storage`.  Raises `RuntimeError` if the view is out of bounds.

    >>> as_strided_scatter(numpy, numpy.zeros(4), numpy.ones(2), (2,), (2,), 1)
    array([0., 1., 0., 1.])
    """
    _strided(xp, flat_storage, sizes, strides, offset)[...] = values
    return flat_storage


def as_strided_add(
    xp: Any, flat_storage: Array, values: Array, sizes: Ints, strides: Ints, offset: int
) -> Array:
    """Like `as_strided_scatter`, but add, counting all elements at the same position.

    >>> as_strided_add(numpy, numpy.zeros(3), numpy.ones((2, 2)), (2, 2), (1, 1), 0)
    array([1., 2., 1.])
    """
    view = _strided(xp, flat_storage, sizes, strides, offset)
    if not _overlaps(sizes, strides):
        view += values
        return flat_storage
    positions = xp.asarray(offset)
    for axis, (size, step) in enumerate(zip(sizes, strides)):
        positions = positions + _along(xp.arange(size) * step, axis, len(sizes))
    return _add_at(xp, flat_storage, positions, values)


def _overlaps(sizes: Ints, strides: Ints) -> bool:
    """Return whether two elements may share a position: one step is within reach of the others."""
    reach = 0
    for step, size in sorted((step, size) for step, size in zip(strides, sizes) if size > 1):
        if step <= reach:
            return True
        reach += step * (size - 1)
    return False


def unfold(xp: Any, x: Array, dim: int, size: int, step: int) -> Array:
    """View all windows of `size` along `dim`, `step` apart, as a new last dimension.

    A 0-d array counts as one element.  Trailing elements without a full window are left out.

    >>> unfold(numpy, numpy.arange(5), 0, 2, 2)
    array([[0, 1],
           [2, 3]])
    """
    if x.ndim == 0:
        return x.reshape(1)[:size]
    dim %= x.ndim
    count = (x.shape[dim] - size) // step + 1
    return xp.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:dim], count, *x.shape[dim + 1 :], size),
        (*x.strides[:dim], x.strides[dim] * step, *x.strides[dim + 1 :], x.strides[dim]),
    )


def unfold_backward(xp: Any, g: Array, input_sizes: Ints, dim: int, size: int, step: int) -> Array:
    """Add windows, laid out as in `unfold`, back to an array of `input_sizes`.

    >>> unfold_backward(numpy, numpy.ones((2, 2)), (3,), 0, 2, 1)
    array([1., 2., 1.])
    """
    grad = xp.zeros(input_sizes, g.dtype)
    if grad.ndim == 0:
        grad += g.sum()
        return grad
    dim %= grad.ndim
    before = (slice(None),) * dim
    count = g.shape[dim]
    # Neither one window nor one position of all windows repeats an element, so loop over fewer.
    if size <= count:
        for at in range(size):
            meets = position_slices((at,), (step,), (1,), (count,))[1]
            grad[(*before, meets)] += g[..., at]
        return grad
    for at in range(count):
        window = grad[(*before, slice(at * step, at * step + size))]
        window += xp.moveaxis(g[(*before, at)], -1, dim)
    return grad
