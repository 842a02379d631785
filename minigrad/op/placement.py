"""Choosing the backend that runs an op, which follows from its arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import BACKENDS, Backend, numpy_backend
from ..device import device_of
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .declaration import Op

Array = Any


def backend_of_mixed(op: type[Op], arrays: list[Any]) -> Backend:
    """Return the backend for arrays that may belong to several devices.

    A 0-d array on the CPU can be combined with arrays of any device; it is replaced in `arrays` by
    a number for that device.
    """
    array_types = dict.fromkeys(type(a) for a in all_arrays(op, arrays))
    backends = [BACKENDS[each] for each in array_types]
    if len(backends) < 2:
        return backends[0] if backends else numpy_backend
    if (batches := next((xp for xp in backends if xp.run_op is not None), None)) is not None:
        return batches
    for i in op.tensor_positions:
        if type(arrays[i]) is np.ndarray and not arrays[i].ndim:
            device = next(xp for xp in backends if xp.array_type is not np.ndarray)
            arrays[i] = device.number(arrays[i])
            return backend_of_mixed(op, arrays)
    names = list(dict.fromkeys(str(device_of(a)) for a in all_arrays(op, arrays)))
    raise RuntimeError("Expected all tensors to be on the same device, but found at least two "
                       f"devices, {names[0]} and {names[1]}!")


def on_one_device(op: type[Op], values: list[Any], arrays: list[Any]) -> list[Any]:
    """Return the values with CPU tensors that forward used as numbers copied to the device.

    A formula may combine them with arrays of the device, and the copy sends the gradient back.
    """
    numbers = [i for i in op.tensor_positions
               if isinstance(arrays[i], np.generic) and isinstance(values[i], Tensor)]
    there = [a for a in all_arrays(op, arrays) if type(a) is not np.ndarray] if numbers else []
    if there:
        values, where = [*values], device_of(there[0])
        for i in numbers:
            values[i] = values[i].to(where)
    return values


def all_arrays(op: type[Op], arrays: list[Any]) -> list[Array]:
    """Return the arrays among an op's arguments and inside its list."""
    found = [arrays[i] for i in op.tensor_positions]
    found += () if op.list_position is None else arrays[op.list_position]
    return [a for a in found if type(a) in BACKENDS]
