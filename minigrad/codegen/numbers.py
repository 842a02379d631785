"""Python numbers as operands, which look like tensors without history to generated code."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.float_errors import ignoring_float_errors
from ..dtypes import INTEGER_RANGES
from ..op.type_promotion import fitting


class Number:
    """A Python number as an operand: a 0-d array with the attributes of a tensor that code reads.

    A node saves the object itself; `unpack` returns the number, and `unpack_array` the array.

    >>> half = number(0.5, np.dtype("float32"))
    >>> half.unpack(None), half.unpack_array(None)
    (0.5, array(0.5, dtype=float32))
    """

    __slots__ = ("_array", "number")
    _counter = _view = _node = None
    _requires_grad = False

    @ignoring_float_errors
    def __init__(self, value: float, dtype: Any) -> None:
        self.number, self._array = value, np.asarray(value)
        if self._array.dtype != object:  # an int beyond 64 bits keeps a dtype that fits no tensor
            self._array = self._array.astype(dtype)
        self._array.flags.writeable = False  # many operations share it

    def unpack(self, node: Any) -> float:
        """Return the Python number."""
        return self.number

    def unpack_array(self, node: Any) -> Any:
        """Return the number as an array, in the dtype that the forward used."""
        return self._array


class DeviceNumber(Number):
    """A number that is combined with arrays of a device; formulas get it unchanged."""

    __slots__ = ()

    def unpack_array(self, node: Any) -> Any:
        """Return the Python number, because a device cannot read an array of the host."""
        return self.number


#: The range of a dtype that isn't for integers.
_NOTHING = (0, -1)


def fits_integers(value: float, dtype: Any) -> bool:
    """Return whether a number is an integer that a dtype for integers can hold.

    >>> fits_integers(255, np.dtype("uint8")), fits_integers(255, np.dtype("int8"))
    (True, False)
    """
    least, greatest = INTEGER_RANGES.get(dtype, _NOTHING)
    return type(value) is int and least <= value <= greatest


_made: dict[Any, Number] = {}


def number(value: float, dtype: Any) -> Number:
    """Return the operand for a number in `dtype`, which is cached."""
    found = _made.get((value, dtype))
    if found is None or type(found.number) is not type(value):
        found = Number(value, dtype)
        if value:  # 0.0 and -0.0 would share a key
            if len(_made) > 1024:
                _made.clear()
            _made[value, dtype] = found
    return found


def fitting_number(value: float, dtype: Any) -> Number:
    """Return the operand for a number; raise `RuntimeError` if a float of `dtype` cannot hold it.

    >>> fitting_number(1e40, np.dtype("float32"))
    Traceback (most recent call last):
    RuntimeError: value cannot be converted to type float without overflow
    """
    if not -65504 <= value <= 65504:  # the limits of float16, which all floats hold
        fitting(value, dtype)
    return number(value, dtype)


def device_number(value: float, dtype: Any) -> DeviceNumber:
    """Return the operand for a number that is combined with arrays of a device."""
    return DeviceNumber(value, dtype)


def as_given(values: Any) -> list[Any]:
    """Return arguments with each `Number` converted back to a Python number."""
    return [value.number if isinstance(value, Number) else value for value in values]
