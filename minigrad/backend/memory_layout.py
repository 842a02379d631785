"""Memory of arrays: order of dimensions, density, overlap, references."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np

Array = Any

OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation."
)


def holds_alone(view: Array) -> bool:
    """Return whether a view of a whole array holds the only reference to that array.

    >>> import numpy as np
    >>> a = np.ones((2, 3)); holds_alone(a.T), holds_alone(np.ones((2, 3)).T)
    (False, True)
    """
    array_type: Any = type(view)
    if array_type is not np.ndarray and not hasattr(view.data, "mem"):
        return False
    base: Any = view.base
    whole = type(base) is array_type and base.base is None and base.nbytes == view.nbytes
    del base  # a variable would be one more reference
    if array_type not in _ALONE:
        _ALONE[array_type] = references_to_base(array_type((2, 3)).T)
    return whole and references_to_base(view) == _ALONE[array_type]


def references_to_base(view: Array) -> Any:
    """Count the references to the base of a view, including the references of the count itself.

    On a device, also count the references to its memory: NOTE [Memory of device arrays] in
    tensor/attributes.py.
    """
    whole = view.base
    if type(view) is np.ndarray:
        return getrefcount(whole)
    return getrefcount(whole), getrefcount(whole.data), getrefcount(view.data.mem)


#: The count without other references, by array type, since interpreters differ in it.
_ALONE: dict[type, Any] = {}


def in_rows(array: Array) -> Array:
    """Return the array in C order, copying it if necessary.

    >>> import numpy as np
    >>> in_rows(np.ones((2, 3)).T).strides
    (16, 8)
    """
    return array if array.flags.c_contiguous else array.copy("C")


def laid_out_like(array: Array, like: Array) -> Array:
    """Return an array with the memory order of `like`, of the same shape; copy if needed.

    >>> import numpy as np
    >>> laid_out_like(np.ones((3, 2)), np.ones((2, 3)).T).strides
    (8, 24)
    """
    if like.flags.c_contiguous or 0 in like.strides or not array.size:
        return in_rows(array)
    return laid_out(array, sorted(range(like.ndim), key=lambda d: -like.strides[d]))


def laid_out(array: Array, order: list[int]) -> Array:
    """Copy an array so that its dimensions have this order in memory, outermost first.

    >>> laid_out(np.ones((3, 2)), [1, 0]).strides
    (8, 24)
    """
    return array.transpose(order).copy("C").transpose([order.index(d) for d in range(array.ndim)])


def order_of_result(shape: Sequence[int], *strides: Sequence[int]) -> list[int]:
    """Return the dimension order, outermost first, of PyTorch's result for these operands.

    For two dimensions, the first operand whose strides differ decides the order, unless one of the
    strides is 0.  Source: `TensorIteratorBase::reorder_dimensions` in PyTorch.

    >>> order_of_result((2, 3), (8, 16))
    [1, 0]
    """
    order = list(range(len(shape)))[::-1]  # innermost first

    def compare(a: int, b: int) -> int:
        for steps in strides:
            if steps[a] and steps[b]:
                if steps[a] != steps[b]:
                    return 1 if steps[a] > steps[b] else -1
                if shape[a] > shape[b]:
                    return 1
        return 0

    for i in range(1, len(order)):
        at = i
        for j in range(i)[::-1]:
            found = compare(order[j], order[at])
            if found > 0:
                order[at], order[j] = order[j], order[at]
                at = j
            elif found < 0:
                break
    return order[::-1]


def channels_last(array: Array) -> Array:
    """Copy (N, C, *S), with two or three sizes S, so that channels are adjacent in memory.

    >>> channels_last(np.ones((1, 2, 3, 3))).strides
    (144, 8, 48, 16)
    """
    return laid_out(array, [0, *range(2, array.ndim), 1])


def is_channels_last(array: Array) -> bool:
    """Return whether (N, C, H, W) has the strides of `channels_last`.

    Sizes of 1 are ambiguous; then row-major order is assumed, as in PyTorch. Source:
    `is_channels_last_strides_2d_s4` in PyTorch.

    >>> image = np.ones((1, 2, 3, 3)); is_channels_last(channels_last(image))
    True
    """
    if array.ndim != 4 or not array.strides[1]:
        return False
    least = 0
    for d in (1, 3, 2, 0):
        size, stride = array.shape[d], array.strides[d]
        if not size or stride < least or (d == 0 and least == array.strides[1]):
            return False
        least = stride * max(size, 1)
    return True


def in_format_of(array: Array, *inputs: Array) -> Array:
    """Return an array, as a channels-last copy if one of the `inputs` is channels-last."""
    return channels_last(array) if any(map(is_channels_last, inputs)) else array


def is_dense(array: Array) -> bool:
    """Return whether an array's elements fill its memory without gaps or overlap, in any order."""
    if array.flags.c_contiguous:
        return True
    step = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape, strict=True)):
        if n == 1:
            continue
        if stride != step:
            return False
        step *= n
    return True


def overlaps_itself(array: Array) -> bool:
    """Return whether elements of an array share memory, as in an expanded array.

    >>> overlaps_itself(np.broadcast_to(np.zeros(1), 3))
    True
    """
    return 0 in array.strides and array.size > 1 and any(
        stride == 0 and n > 1 for stride, n in zip(array.strides, array.shape, strict=True))
