"""The element types, and how PyTorch promotes them.

Source: https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.dtype
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

import numpy as np

from .frames import type_in_error

NO_BFLOAT16 = ("minigrad has no bfloat16, because NumPy has none: use torch.float16, in training "
               "with a torch.amp.GradScaler, or torch.float32")


class dtype:
    """An element type; there is one object for each, so compare them with `is`.

    You can refer to a `missing` dtype and compare it, but no tensor has it, and it has no `numpy`.

    >>> float32
    torch.float32
    >>> float32.is_floating_point, float32.itemsize
    (True, 4)
    """

    __slots__ = ("category", "is_complex", "is_floating_point", "is_signed", "itemsize", "missing",
                 "name", "numpy")

    def __init__(self, name: str, category: builtins.int, numpy_name: str,
                 missing: str = "") -> None:
        self.name = name
        self.category = category  # 0 bool, 1 integer, 2 floating: the higher one wins
        found = np.dtype(numpy_name)
        self.itemsize = found.itemsize
        self.is_floating_point = category == 2
        self.is_complex = found.kind == "c"
        self.is_signed = found.kind in "ifc"
        if missing:
            self.missing = missing  # why there are no such tensors
        else:
            self.numpy = found

    def __getattr__(self, name: str) -> Any:
        if name == "numpy":  # read whenever a tensor is created
            raise NotImplementedError(self.missing)
        raise AttributeError(f"'torch.dtype' object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def __deepcopy__(self, memo: dict[Any, Any]) -> dtype:
        return self


bool = dtype("bool", 0, "bool")
uint8 = dtype("uint8", 1, "uint8")
int8 = dtype("int8", 1, "int8")
int16 = dtype("int16", 1, "int16")
int32 = dtype("int32", 1, "int32")
int64 = dtype("int64", 1, "int64")
float16 = dtype("float16", 2, "float16")
float32 = dtype("float32", 2, "float32")
float64 = dtype("float64", 2, "float64")
short, int, long = int16, int32, int64
half, float, double = float16, float32, float64
bfloat16 = dtype("bfloat16", 2, "float16", NO_BFLOAT16)  # of float16's size and sign

ALL = (bool, uint8, int8, int16, int32, int64, float16, float32, float64)
FROM_NUMPY = {d.numpy: d for d in ALL}
#: The least and the greatest integer that each dtype for integers holds.
INTEGER_RANGES = {d.numpy: (np.iinfo(d.numpy).min, np.iinfo(d.numpy).max)
                  for d in (int64, int32, int16, int8, uint8)}
#: Python's types as names for dtypes.
PYTHON_TYPES: dict[type, dtype] = {
    builtins.float: float64, builtins.int: int64, builtins.bool: bool}

_default = float32


def from_numpy_dtype(numpy_dtype: np.dtype) -> dtype:
    """Return the dtype for a NumPy dtype; raise `TypeError` if it is not supported."""
    found = FROM_NUMPY.get(numpy_dtype)
    if found is None:
        supported = ", ".join(d.name for d in ALL)
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. "
            f"The only supported types are: {supported}."
        )
    return found


def as_dtype(given: Any) -> Any:
    """Return the dtype for one of Python's types, and other values unchanged.

    >>> import builtins
    >>> as_dtype(builtins.float), as_dtype(int32), as_dtype("int")
    (torch.float64, torch.int32, 'int')
    """
    return PYTHON_TYPES.get(given, given) if isinstance(given, type) else given


def numpy_of(given: Any) -> np.dtype:
    """Return a dtype's NumPy dtype; raise `TypeError` for other values, such as a string.

    >>> numpy_of(float64)
    dtype('float64')
    """
    given = as_dtype(given)
    if not isinstance(given, dtype):
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type_in_error(given)}")
    return given.numpy


def both_dtypes(name: str, **given: Any) -> list[dtype]:
    """Return a function's dtype arguments; a `TypeError` names the first that is not a dtype."""
    found = [as_dtype(value) for value in given.values()]
    for position, (argument, value) in enumerate(zip(given, found, strict=True), 1):
        if not isinstance(value, dtype):
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be "
                            f"torch.dtype, not {type_in_error(value)}")
    return found


def get_default_dtype() -> dtype:
    """Return the floating dtype that Python floats become.

    >>> get_default_dtype()
    torch.float32
    """
    return _default


def set_default_dtype(d: dtype) -> None:
    """Make `d` the dtype that Python floats become; raise `TypeError` unless it is floating.

    >>> set_default_dtype(float32)
    """
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        invalid = "" if isinstance(d, dtype) else "invalid dtype object: "
        raise TypeError(invalid + "only floating-point types are supported as the default type")
    numpy_of(d)  # raises if there are no such arrays
    _default = d


_promoted: dict[tuple[dtype, dtype], dtype] = {}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the smallest dtype of the higher category that holds both.

    >>> promote_types(int64, float16), promote_types(uint8, int8)
    (torch.float16, torch.int16)
    """
    if type1 is type2 and isinstance(type1, dtype):
        return type1
    type1, type2 = both_dtypes("promote_types", type1=type1, type2=type2)
    if type1.category != type2.category:
        return type1 if type1.category > type2.category else type2
    found = _promoted.get((type1, type2))
    if found is None:
        found = FROM_NUMPY[np.promote_types(type1.numpy, type2.numpy)]
        _promoted[type1, type2] = found
    return found


def scalar_dtype(value: Any) -> dtype:
    """Return the dtype that a Python number has by default."""
    if value is True or value is False or isinstance(value, np.bool_):
        return bool
    return int64 if hasattr(value, "__index__") else _default


def result_dtype(operands: Iterable[tuple[dtype, Any]]) -> dtype:
    """Return the dtype in which operands, given as `(dtype, rank)`, are combined.

    A rank is 2 for a tensor with dimensions, 1 for a 0-d tensor and 0 for a Python number. A lower
    rank counts only if its category is higher (PyTorch's `result_type`).

    >>> result_dtype([(float32, 2), (float64, 1)])
    torch.float32
    >>> result_dtype([(int64, 2), (float32, 0)])
    torch.float32
    """
    best: list[dtype | None] = [None, None, None]
    for d, rank in operands:
        current = best[rank]
        best[rank] = d if current is None else promote_types(current, d)
    result = best[2]
    for lower in (best[1], best[0]):
        if lower is None:
            continue
        if result is None:
            result = lower
        elif lower.category > result.category:
            result = lower if lower is not best[0] or not lower.is_floating_point else _default
    assert result is not None
    return result


def can_cast(from_: dtype, to: dtype) -> Any:
    """Return whether an in-place result of `from_` may be stored as `to`.

    It may not be stored in a lower category.

    >>> can_cast(float32, int64), can_cast(int64, float16)
    (False, True)
    """
    lower, higher = both_dtypes("can_cast", from_=from_, to=to)
    return lower.category <= higher.category


def type_name(d: dtype) -> str:
    """Return the name that PyTorch's errors use for a dtype.

    >>> type_name(float64)
    'Double'
    """
    return _TYPE_NAMES[d.name]


def c_name(d: dtype) -> str:
    """Return a dtype's C++ name, for some of PyTorch's errors.

    >>> c_name(int64)
    'long int'
    """
    return _C_NAMES[d.name]


_C_NAMES = {"float32": "float", "float64": "double", "float16": "c10::Half", "int64": "long int",
            "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
            "bool": "bool"}
_TYPE_NAMES = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long",
               "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
