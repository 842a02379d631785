"""Reads Python data: turns numbers, nested sequences, NumPy arrays and tensors into one array.

As in PyTorch, this infers the dtype, checks the nesting and converts the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...backend.float_errors import ignoring_float_errors
from ...dtypes import FROM_NUMPY, dtype, from_numpy_dtype, get_default_dtype, int64, promote_types
from ...dtypes import bool as boolean
from ...frames import type_in_error, warn_user_once
from ...op.type_promotion import DOES_NOT_FIT, fitting
from ...tensor.protocols import LOSES_GRADIENT
from ...tensor.tensor import Tensor

Array = Any

NO_COMPLEX = ("minigrad has no complex numbers: keep the real and the imaginary part in two "
              "tensors of their own")

SLOW_LIST = ("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
             "converting the list to a single numpy.ndarray with numpy.array() before converting "
             "to a tensor.")

_NEGATIVE_STRIDE = (
    "At least one stride in the given numpy array is negative, and tensors with negative strides "
    "are not currently supported. (You can probably work around this by making a copy of your "
    "array  with array.copy().) ")
_BYTE_ORDER = ("given numpy array has byte order different from the native byte order. Conversion "
               "between byte orders is currently not supported.")


def read(data: Any, wanted: dtype | None) -> Array:
    """Return a new NumPy array of the values in `data`, with dtype `wanted` or the inferred one.

    Raises `ValueError` for ragged sequences, and `RuntimeError` for a value that is not a number or
    does not fit.

    >>> read([[1, 2], [3, 4]], None).tolist(), read([1, 2.5], None).dtype
    ([[1, 2], [3, 4]], dtype('float32'))
    """
    if not isinstance(data, (list, tuple)):
        if isinstance(data, np.generic):
            data = np.asarray(data)
        elif hasattr(data, "__array__"):
            data = checked(np.asarray(data))
        if isinstance(data, np.ndarray):
            target = wanted or from_checked_dtype(data.dtype)
            return convert(data, target) if target.numpy != data.dtype else data.copy("K")
        if isinstance(data, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type_in_error(data)}'")
        if not isinstance(data, Sequence) and not hasattr(data, "__getitem__"):
            return convert_list([data], [type(data)], wanted).reshape(())
    shape = nesting(data)
    flat: list[Any] = []
    types: set[Any] = set()
    if 0 in shape:  # the first sequences decide, so the others may have another length
        return convert_list(flat, set(types_within(data)), wanted).reshape(shape)
    flatten(data, shape, 0, flat, types)
    return convert_list(flat, types, wanted).reshape(shape)


def nesting(data: Any) -> tuple[int, ...]:
    """Return the shape of nested sequences, from the first element at each level."""
    shape = []
    while is_nested(data):
        shape.append(len(data))
        if not shape[-1]:
            break
        data = data[0]
        if isinstance(data, str):
            raise ValueError("too many dimensions 'str'")
        if isinstance(data, bytes):
            raise TypeError("new(): invalid data type 'bytes'")
        if len(shape) > 64:
            raise ValueError(f"too many dimensions '{type_in_error(data)}'")
    return tuple(shape)


def is_nested(data: Any) -> bool:
    """Return whether `data` has elements; a tensor counts as the single number that it holds."""
    if isinstance(data, dict):
        raise RuntimeError("Could not infer dtype of dict")
    return isinstance(data, (Sequence, np.ndarray)) and not isinstance(data, str)


def types_within(data: Any) -> Iterator[Any]:
    """Generate the types of all elements of ragged sequences."""
    if not is_nested(data):
        yield data.dtype if isinstance(data, Tensor) else type(data)
    elif len(data):
        for item in data:
            yield from types_within(item)
    else:
        yield float  # an empty sequence counts as numbers of the default dtype


def flatten(
    data: Any, shape: tuple[int, ...], dim: int, flat: list[Any], types: set[Any]
) -> None:
    """Append the numbers in `data` to `flat`, and add their types to `types`."""
    if not is_nested(data):
        raise TypeError("not a sequence")
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    if isinstance(data, np.ndarray):
        if data.shape != shape[dim:]:
            raise ValueError(f"expected sequence of shape {shape[dim:]} at dim {dim} "
                             f"(got {data.shape})")
        types.add(from_checked_dtype(data.dtype))
        warn_user_once(SLOW_LIST)
        flat += data.ravel().tolist()
    elif dim + 1 < len(shape):
        for item in data:
            flatten(item, shape, dim + 1, flat, types)
    else:
        for item in data:
            if isinstance(item, Tensor):
                types.add(item.dtype)
                if item.requires_grad:
                    warn_user_once(LOSES_GRADIENT)
            else:
                types.add(type(item))
                if isinstance(item, np.ndarray):
                    warn_user_once(SLOW_LIST)
        flat += data


def convert_list(flat: list[Any], types: Any, wanted: dtype | None) -> Array:
    """Return a one-dimensional array of numbers whose types are `types`."""
    inferred = infer(types)
    target = wanted or inferred
    if any(each not in (bool, int, float) for each in types):
        flat = [scalar(item) for item in flat]
    if inferred.is_floating_point or target.is_floating_point:
        return convert(np.array(flat, dtype=np.float64), target)
    try:
        return convert(np.array(flat, dtype=np.int64), target)
    except OverflowError as error:
        raise ValueError("Overflow when unpacking long long") from error


def infer(types: Any) -> dtype:
    """Return the dtype that can hold all these types, or the default dtype if `types` is empty.

    >>> infer([int, float]), infer([bool, int]), infer([])
    (torch.float32, torch.int64, torch.float32)
    """
    result: dtype | None = None
    nested = None
    for each in types:
        if isinstance(each, dtype):
            one = each
        elif each is bool:
            one = boolean
        elif each is int:
            one = int64
        elif each is float:
            one = get_default_dtype()
        elif issubclass(each, np.generic):
            one = from_checked_dtype(np.dtype(each))
        elif issubclass(each, complex):
            raise TypeError(NO_COMPLEX)
        elif issubclass(each, str):
            raise ValueError("too many dimensions 'str'")
        elif issubclass(each, bytes):
            raise TypeError("new(): invalid data type 'bytes'")
        elif issubclass(each, (list, tuple, np.ndarray)):
            nested = each
            continue
        elif hasattr(each, "__index__"):
            one = int64
        elif hasattr(each, "__float__"):
            one = get_default_dtype()
        else:
            raise RuntimeError(f"Could not infer dtype of {each.__name__}")
        result = one if result is None else promote_types(result, one)
    result = result or get_default_dtype()
    if nested is not None:
        raise TypeError(f"must be real number, not {nested.__name__}" if result.is_floating_point
                        else f"'{nested.__name__}' object cannot be interpreted as an integer")
    return result


def scalar(item: Any) -> Any:
    """Return the Python number in an element."""
    if isinstance(item, Tensor):
        if item.numel() != 1:
            if item.is_floating_point():
                raise ValueError("only one element tensors can be converted to Python scalars")
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return item.item()
    return item.item() if isinstance(item, np.generic) else item


@ignoring_float_errors
def convert(array: Array, target: dtype) -> Array:
    """Convert `array` to a new array of a dtype; raise `RuntimeError` if an integer does not fit.

    As in C, fractions are truncated, floating-point numbers that are too large become infinite, and
    negative numbers wrap around in unsigned types.

    >>> convert(np.array([1.7, -1.7]), int64).tolist()
    [1, -1]
    """
    goal = target.numpy
    if goal.kind in "iu" and array.dtype.kind in "fiu" and array.size:
        info = np.iinfo(goal)
        lowest = -info.max if goal.kind == "u" else info.min
        # `not` makes nan fail; 2.0**63 is the float next to int64's maximum and does not fit
        highest = info.max if array.dtype.kind != "f" else float(info.max)
        low, high = array.min(), array.max()
        if not (low >= lowest and (high < highest if highest == 2.0**63 else high <= highest)):
            raise RuntimeError(DOES_NOT_FIT.format(target.name))
        if array.dtype.kind == "f":
            array = array.astype(np.int64)
    return array.astype(goal)  # floats overflow to infinity, as in PyTorch


def number(value: Any, target: dtype) -> Array:
    """Return a Python number as a 0-d array of a dtype; raise `RuntimeError` if it does not fit."""
    if isinstance(value, complex):
        raise TypeError(NO_COMPLEX)
    return fitting(value, target.numpy)


def checked(array: Array) -> Array:
    """Return a NumPy array unchanged; raise `ValueError` if a tensor cannot share its memory."""
    if any(stride < 0 for stride in array.strides):
        raise ValueError(_NEGATIVE_STRIDE)
    if not array.dtype.isnative:
        raise ValueError(_BYTE_ORDER)
    return array


def from_checked_dtype(numpy_dtype: Any) -> dtype:
    """Return the dtype for a NumPy dtype; raise `TypeError` if it is not supported."""
    if numpy_dtype.kind == "c":
        raise TypeError(NO_COMPLEX)
    return FROM_NUMPY.get(numpy_dtype) or from_numpy_dtype(numpy_dtype)
