"""Positions of the largest elements and of the median, without sorting all of them.

Each function works along the last dimension of a large NumPy array.  It returns None for other
arrays, and where equal elements or NaN leave a choice that only a stable sort makes the same way.
"""

from typing import Any

import numpy as np

Array = Any

__all__ = ["leading", "median"]

#: In arrays with fewer elements, sorting takes no longer.
_FEW = 1000
#: Finding the largest of some thousand elements is sixty times as fast as sorting them.
_SEARCHES = 16


def leading(array: Array, count: int, largest: bool) -> Array | None:
    """Return the positions of the `count` largest or smallest elements, in their order.

    >>> leading(np.arange(3000).reshape(3, 1000) % 997, 2, True)
    array([[996, 995],
           [993, 992],
           [990, 989]])
    """
    if type(array) is not np.ndarray or array.size < _FEW or not 0 < count <= array.shape[-1] // 4:
        return None
    search = by_search if count <= _SEARCHES else by_partition
    return search(np.ascontiguousarray(array), count, largest)


def by_search(array: Array, count: int, largest: bool) -> Array | None:
    """Find one position after the other, each time replacing the element by the last of all."""
    if array.dtype.kind == "f":
        last = -np.inf if largest else np.inf
        if not largest and np.isnan(array).any():
            return None
    else:
        limits = np.iinfo(array.dtype)
        last = limits.min if largest else limits.max
    rest, order = array.copy(), np.empty((*array.shape[:-1], count), np.int64)
    for i in range(count):
        place = order[..., i:i + 1]
        place[...] = (rest.argmax if largest else rest.argmin)(-1, keepdims=True)
        if np.any(np.take_along_axis(rest, place, -1) == last):
            return None
        np.put_along_axis(rest, place, last, -1)
    return order


def by_partition(array: Array, count: int, largest: bool) -> Array | None:
    """Separate the leading elements from the others, and sort only them."""
    kth = array.shape[-1] - count if largest else count - 1
    order = np.argpartition(array, kth, axis=-1)
    border = np.take_along_axis(array, order[..., kth:kth + 1], -1)
    order = np.sort(order[..., kth:] if largest else order[..., :count], axis=-1)
    values = np.take_along_axis(array, order, -1)
    taken = np.count_nonzero(values == border, axis=-1)
    if np.isnan(values).any() or np.any(taken != np.count_nonzero(array == border, axis=-1)):
        return None
    if largest:  # reversing before and after the sort keeps equal elements in order
        ranks = count - 1 - np.argsort(values[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    else:
        ranks = np.argsort(values, axis=-1, kind="stable")
    return np.take_along_axis(order, ranks, -1)


def median(array: Array) -> Array | None:
    """Return the position of the lower median.

    >>> median(np.arange(2997).reshape(3, 999))
    array([[499],
           [499],
           [499]])
    """
    if type(array) is not np.ndarray or array.size < _FEW:
        return None
    kth = (array.shape[-1] - 1) // 2
    value = np.partition(array, kth, axis=-1)[..., kth:kth + 1]
    matches = array == value
    if np.any(np.count_nonzero(matches, axis=-1) != 1) or np.isnan(array).any():
        return None
    return matches.argmax(-1, keepdims=True)
