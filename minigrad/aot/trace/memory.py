"""The memory that traced arrays share, and the functions that read and write a part of one.

NOTE [Writes become values]
    A program has no writes.  All arrays that share memory refer to one `Memory`, and its `whole`
    is the current value of all of it.  A write makes a new value for `whole`, and an array that was
    traced before the write is read again, as a view of the new value, when it is next used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _state
from ...backend import numpy_backend
from ...tensor.attributes import data_pointer, storage_of
from ..program import Value
from .refusal import refuse

Array = Any


class Memory:
    """The memory that several traced arrays may share; see NOTE [Writes become values]."""

    __slots__ = ("array", "is_input", "is_part", "version", "whole")

    def __init__(self, array: Array, whole: Value, is_input: bool = False,
                 is_part: bool = False) -> None:
        self.array = array  # all of the memory
        self.whole = whole
        self.version = 0
        self.is_input = is_input
        self.is_part = is_part  # whether an input is only a part of the memory of the caller

    @property
    def ptr(self) -> int:
        """The address of the memory."""
        return data_pointer(self.array)

    @property
    def start(self) -> int:
        """The address of the memory; raise for an input that is a part of larger memory.

        The history of a write only compares offsets in the same memory, so it may have the address.
        """
        recording = _state.program.get()
        if self.is_part and not (recording is not None and recording.in_write):
            raise refuse("the storage offset of an input that is a part of a tensor is read")
        return self.ptr

    @property
    def size(self) -> int:
        """The size in bytes; raise for an input that is a part of larger memory."""
        if self.is_part:
            raise refuse("as_strided may reach beyond an input that is a part of a tensor")
        return int(self.array.nbytes)


def part_of(xp: Any, whole: Array, shape: Any, strides: Any, offset: int) -> Array:
    """Return a view of a part of a memory; strides and offset are in bytes."""
    return numpy_backend.as_strided(whole, shape, strides, offset)


def with_part(xp: Any, whole: Array, part: Array, shape: Any, strides: Any, offset: int) -> Array:
    """Return a copy of a memory in which a part has other values."""
    result = whole.copy("K")
    part_of(xp, result, shape, strides, offset)[...] = part
    return result


def stored(xp: Any, whole: Array, values: Array) -> Array:
    """Return values in the layout and with the dtype of the memory that they overwrite."""
    result = np.empty_like(whole)
    result[...] = values
    return result


def geometry(array: Array, memory: Array) -> tuple[Any, ...]:
    """Return the shape, the strides and the offset of an array in a memory, in bytes."""
    return array.shape, array.strides, data_pointer(array) - data_pointer(memory)


def owner_of(array: Array) -> Array:
    """Return the array that owns the memory, even if it has another dtype."""
    owner = storage_of(array)
    while type(owner.base) is np.ndarray:
        owner = owner.base
    return owner


def private_copy(array: Array) -> tuple[Array, bool]:
    """Return a copy with the same strides, and whether the array is a part of other memory."""
    copy = array.copy("K")
    if array.size and any(n > 1 and a != b for n, a, b in zip(
            array.shape, array.strides, copy.strides, strict=True)):
        span = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides)) + array.itemsize
        room = np.empty(-(-span // array.itemsize), array.dtype)
        first = sum((n - 1) * -s for n, s in zip(array.shape, array.strides) if s < 0)
        copy = np.ndarray(array.shape, array.dtype, room, first, array.strides)
        copy[...] = array
        return copy, True
    return copy, owner_of(array).nbytes != array.nbytes
