"""A fast path for single elements, `x[1, 2]` and `x[1, 2] = y`, if no graph is recorded.

On a matrix, `x[1, 2] += 1` takes 2.6 us this way, and 45 us as the seven operations that `getitem`
and `setitem` would run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _state
from ...graph.version import Version
from ...tensor.tensor import Parameter, Tensor
from ...tensor.views import mark_view

#: The dtypes to which a Python number can be written without a range check.
WIDE = np.dtype("float32"), np.dtype("float64")


def element_view(tensor: Any, key: Any) -> Tensor | None:
    """Return the view that integers select, or `None` for another index or if ops have to run."""
    place = integers(key)
    if place is None or not is_plain(tensor):
        return None
    try:
        array = tensor._array[place]
    except IndexError:
        return None
    view = Tensor._plain(array)
    mark_view(view, tensor)
    return view


def write_element(tensor: Any, key: Any, value: Any) -> bool:
    """Write a number, or a tensor with one, to an element; return False if ops have to run."""
    place = integers(key)
    if place is None or not is_plain(tensor) or len(place) != tensor._array.ndim + 1:
        return False
    source = operand(value, tensor._array)
    if source is None:
        return False
    counter = tensor._shared_counter()
    if type(counter) is not Version:
        return False
    try:
        element = tensor._array[place]
    except IndexError:
        return False
    counter.value += 1  # first, because an interrupt can hit between any two lines
    try:
        element[...] = source
    except ValueError:  # the memory is read-only
        counter.value -= 1
        return False
    return True


def is_plain(tensor: Any) -> bool:
    """Return whether a tensor is on the CPU, and ops on it are neither observed nor recorded."""
    tensor_type = type(tensor)
    if (tensor_type is not Tensor and tensor_type is not Parameter) or _state.observers.count or (
            type(tensor._array) is not np.ndarray):
        return False
    view = tensor._view
    return not ((tensor._requires_grad or (view is not None and view.base._requires_grad))
                and _state.grad_enabled.get())


def integers(key: Any) -> Any:
    """Return an index of integers as NumPy's key for a view, or `None` for another index."""
    parts = key if type(key) is tuple else (key,)
    for part in parts:
        if type(part) is not int:
            return None
    return (*parts, ...) if parts else None


def operand(value: Any, array: Any) -> Any:
    """Return the value to write to an element of `array`, or `None` if it needs conversion."""
    if type(value) is float or type(value) is int:
        limit = 2**63 if type(value) is int else 1e38
        return value if array.dtype in WIDE and abs(value) < limit else None
    if is_plain(value) and not value._array.ndim and value._array.dtype is array.dtype:
        return value._array
    return None
