"""Type promotion: the inputs of an op are converted to one dtype before `forward`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import dtypes
from ..backend import BACKENDS
from ..backend.float_errors import ignoring_float_errors
from ..device import place_on

if TYPE_CHECKING:
    from .declaration import Op

Array = Any

BOOL_SUBTRACTION = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead.")

DOES_NOT_FIT = "value cannot be converted to type {} without overflow"
#: The names of dtypes in that error.
SCALAR_NAMES = {"int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int",
                "int64": "int64_t", "float16": "c10::Half", "float32": "float"}


def promote_arrays(op: type[Op], arrays: list[Any]) -> dict[str, Any]:
    """Convert the promoted inputs to their common dtype, in place in `arrays`.

    Return the new dtypes of the inputs whose dtype changed, by name.
    """
    operands = []
    for i in op.promoted_positions:
        value = arrays[i]
        if type(value) in BACKENDS or isinstance(value, np.generic):
            operands.append((dtypes.from_numpy_dtype(value.dtype), 2 if value.ndim else 1))
        elif value is not None:
            operands.append((dtypes.scalar_dtype(value), 0))
    items = () if op.list_position is None else arrays[op.list_position]
    operands += [(dtypes.from_numpy_dtype(a.dtype), 2 if a.ndim else 1) for a in items]
    if not operands:
        return {}
    if op.reject_bool and len({dtype is dtypes.bool for dtype, _ in operands}) == 2:
        raise RuntimeError(BOOL_SUBTRACTION)
    common = dtypes.result_dtype(operands)
    if op.promote == "float" and not common.is_floating_point:
        common = dtypes.get_default_dtype()
    target = common.numpy
    promoted = {}
    for i in op.promoted_positions:
        value, name = arrays[i], op.parameters[i]
        to = target
        if name in op.float32_scalars and target == np.float16 and not getattr(value, "ndim", 0):
            to = np.dtype(np.float32)
        if type(value) in BACKENDS or isinstance(value, np.generic):
            if value.dtype is not target:
                promoted[name] = to
                # For an expanded array, NumPy would choose a different memory order than PyTorch.
                arrays[i] = converted(value, to, "C" if 0 in value.strides else "K")
        elif value is not None:
            arrays[i] = fitting(value, to) if op.numbers_fit else np.asarray(value).astype(to)
            if to is not target:
                promoted[name] = to
    if any(a.dtype is not target for a in items):
        promoted[op.list_of_tensors or ""] = target
        arrays[op.list_position or 0] = [a if a.dtype is target else converted(a, target, "K")
                                         for a in items]
    return promoted


def fitting(value: Any, dtype: Any) -> Array:
    """Return a Python number as a 0-d array; raise as PyTorch does if the dtype cannot hold it.

    Fractions are truncated.  Negative integers wrap around in unsigned types.

    >>> fitting(1.5, np.dtype(np.int8)), fitting(-1, np.dtype(np.uint8))
    (array(1, dtype=int8), array(255, dtype=uint8))
    """
    array = np.asarray(value)
    if array.dtype == object:
        refuse_big_int(value)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        wraps = dtype.kind == "u" and not isinstance(value, float)
        lowest = -limits.max if wraps else limits.min
        if not (lowest <= value <= limits.max) or value == 2.0**63:  # `not` makes nan fail
            raise RuntimeError(DOES_NOT_FIT.format(SCALAR_NAMES[dtype.name]))
        return np.asarray(int(value)).astype(dtype)
    result = cast_quietly(array, dtype)
    if dtype.kind == "f" and np.isinf(result) and not np.isinf(array):
        raise RuntimeError(DOES_NOT_FIT.format(SCALAR_NAMES[dtype.name]))
    return result


def refuse_big_int(value: int) -> NoReturn:
    """Raise `OverflowError` for an integer that isn't even an unsigned integer of 64 bits."""
    raise OverflowError("can't convert negative int to unsigned" if value < 0 else
                        "int too big to convert")


@ignoring_float_errors
def cast_quietly(array: Array, dtype: Any) -> Array:
    """Return an array in another dtype; numbers that are too large become infinite."""
    return array.astype(dtype)


def converted(array: Array, dtype: Any, order: str) -> Array:
    """Return an array, or a NumPy scalar, in another dtype."""
    if isinstance(array, np.generic):
        return array.astype(dtype)
    with place_on(array):
        return array.astype(dtype, order)
