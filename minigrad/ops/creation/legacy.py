"""The legacy constructors: `FloatTensor(2, 3)`, `LongTensor([1, 2])`, `x.new(...)`."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ...dtypes import bool as boolean
from ...dtypes import (
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from ...frames import warn_user
from ...op.arguments import NOT_GIVEN
from ...op.publish import function
from ...tensor.attributes import Size
from ...tensor.tensor import Tensor, method
from .create import plain_number
from .from_data import read
from .tensor_options import Options, create, sizes


@method("new")
def new(self: Tensor, *args: Any) -> Tensor:
    """Create a tensor with this tensor's dtype from sizes or data.  Source: `torch.Tensor.new`.

    >>> from minigrad import tensor
    >>> tensor([1]).new([2, 3])
    tensor([2, 3])
    """
    return legacy(self.dtype, args)


@function("range", method_too=False, out="creation")
def closed_range(start: Any, end: Any = NOT_GIVEN, step: Any = 1,
                 **options: Unpack[Options]) -> Tensor:
    """Create the numbers from `start` to `end`, both included.  Deprecated: use `arange`.

    Neighbours are `step` apart; by default they have the default dtype.  Raises `RuntimeError` if
    `step` is 0 or has the wrong sign.  Source: `torch.range`.

    >>> import warnings
    >>> import minigrad as torch
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.range(1, 3)
    tensor([1., 2., 3.])
    """
    if end is NOT_GIVEN:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warn_user("torch.range is deprecated and will be removed in a future release because its "
              "behavior is inconsistent with Python's range builtin. Instead, use "
              "torch.arange, which produces values in [start, end).", UserWarning)
    first, last, by = (plain_number("range", name, position, value) for position, (name, value) in
                       enumerate((("start", start), ("end", end), ("step", step)), 1))
    if not by:
        raise RuntimeError("step must be nonzero")
    if (last - first) * by < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = int((last - first) / by) + 1
    return create("range", options, lambda xp, kind: (xp.arange(count) * by + first).astype(kind),
                  get_default_dtype())


def legacy(kind: dtype, args: tuple[Any, ...]) -> Tensor:
    """Read the arguments of `FloatTensor(...)`: sizes, a sequence of values, or a tensor."""
    if len(args) == 1 and not isinstance(args[0], Size):
        (data,) = args
        if isinstance(data, Tensor):
            if data.dtype is not kind:
                raise TypeError(f"expected a tensor of dtype {kind} (got {data.dtype})")
            return Tensor._plain_as(Tensor, data._array)
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        if isinstance(data, float):
            raise TypeError("new(): data must be a sequence (got float)")
        if isinstance(data, np.ndarray) or not hasattr(data, "__index__"):
            return Tensor._plain_as(Tensor, read(data, kind))
    shape = sizes("new", args, {}) if args else (0,)
    return Tensor._plain_as(Tensor, np.zeros(shape, kind.numpy))


class LegacyType(type):
    """The type of `FloatTensor` and the like; calling one creates a `Tensor` of its dtype."""

    dtype: dtype

    def __call__(cls, *args: Any) -> Tensor:
        return legacy(cls.dtype, args)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype


TEXT = """Creates tensors of {kind}, from sizes or from data.

    >>> import minigrad as torch
    >>> x = torch.{name}([[0, 1, 2]]); x.dtype, x.tolist()
    (torch.{kind}, {shown})
    >>> torch.{name}(2, 3).shape, isinstance(x, torch.{name})
    (torch.Size([2, 3]), True)
    """


def _legacy_type(name: str, kind: dtype) -> LegacyType:
    text = TEXT.format(kind=kind.name, name=name, shown=np.array([[0, 1, 2]], kind.numpy).tolist())
    return LegacyType(name, (), {"dtype": kind, "__module__": "torch", "__doc__": text})


HalfTensor = _legacy_type("HalfTensor", float16)
FloatTensor = _legacy_type("FloatTensor", float32)
DoubleTensor = _legacy_type("DoubleTensor", float64)
CharTensor = _legacy_type("CharTensor", int8)
ShortTensor = _legacy_type("ShortTensor", int16)
IntTensor = _legacy_type("IntTensor", int32)
LongTensor = _legacy_type("LongTensor", int64)
ByteTensor = _legacy_type("ByteTensor", uint8)
BoolTensor = _legacy_type("BoolTensor", boolean)
