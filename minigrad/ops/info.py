"""Queries about tensors and dtypes that need no computation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import as_dtype, dtype, get_default_dtype, result_dtype, scalar_dtype
from ..dtypes import bool as boolean
from ..frames import type_in_error
from ..op.arguments import NUMBERS
from ..op.publish import function
from ..tensor.tensor import Tensor


@function(method_too=False, event=False)
def is_tensor(obj: Any) -> bool:
    """Return whether `obj` is a tensor.  Source: `torch.is_tensor`.

    >>> from minigrad import is_tensor, tensor
    >>> is_tensor(tensor(1)), is_tensor(1)
    (True, False)
    """
    return isinstance(obj, Tensor)


@function(method_too=False, event=False)
def typename(obj: Any, /) -> str:
    """Return the qualified name of an object's type, or of the object if it is a class or function.

    For a tensor, returns the name of its legacy type, such as torch.FloatTensor.

    Source: `torch.typename`.

    >>> from minigrad import tensor, typename
    >>> typename(tensor(1)), typename(1)
    ('torch.LongTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", "") or ""
    name: str = named.__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"


def checked(name: str, input: Any) -> Tensor:
    """Return `input`, and raise `TypeError` unless it is a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not "
                        f"{type_in_error(input)}")
    return input


@function(method_too=False, event=False)
def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype is floating-point.  Source: `torch.is_floating_point`.

    >>> from minigrad import is_floating_point, tensor
    >>> is_floating_point(tensor(1.0)), is_floating_point(tensor(1))
    (True, False)
    """
    return checked("is_floating_point", input).is_floating_point()


@function(event=False)
def is_signed(input: Tensor) -> bool:
    """Return whether the dtype can hold negative numbers.  Source: `torch.is_signed`.

    >>> from minigrad import tensor, uint8
    >>> tensor([1]).is_signed(), tensor([1], dtype=uint8).is_signed()
    (True, False)
    """
    return bool(checked("is_signed", input).dtype.is_signed)


@function(method_too=False, event=False)
def is_complex(input: Tensor) -> bool:
    """Return False, because minigrad has no complex dtypes.  Source: `torch.is_complex`.

    >>> from minigrad import is_complex, tensor
    >>> is_complex(tensor(1.0))
    False
    """
    return checked("is_complex", input).is_complex()


@function(method_too=False, event=False)
def is_inference(input: Tensor) -> bool:
    """Return whether the tensor was created in inference mode.  Source: `torch.is_inference`.

    >>> from minigrad import is_inference, tensor
    >>> is_inference(tensor(1.0))
    False
    """
    return checked("is_inference", input).is_inference()


@function(event=False)
def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is nonzero; raise `RuntimeError` unless there is exactly one.

    Source: `torch.is_nonzero`.

    >>> from minigrad import is_nonzero, tensor
    >>> is_nonzero(tensor([0.0]))
    False
    """
    return bool(checked("is_nonzero", input))


@function(method_too=False, event=False)
def numel(input: Tensor) -> int:
    """Return the number of elements. Source: `torch.numel`.

    >>> from minigrad import numel, zeros
    >>> numel(zeros(2, 3))
    6
    """
    return checked("numel", input).numel()


@function(method_too=False, event=False)
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Return the dtype that two tensors or numbers promote to.  Source: `torch.result_type`.

    >>> from minigrad import result_type, tensor
    >>> result_type(tensor([1, 2]), 1.0)
    torch.float32
    """
    operands = []
    for value in (tensor1, tensor2):
        if isinstance(value, Tensor):
            operands.append((value.dtype, 2 if value.ndim else 1))
        elif isinstance(value, NUMBERS):
            operands.append((scalar_dtype(value), 0))
        else:
            raise TypeError("result_type(): the arguments must be Tensor or Number, not "
                            f"{type_in_error(value)}")
    return result_dtype(operands)


class finfo:
    """The limits of a floating-point dtype, by default the default dtype.  Source: `torch.finfo`.

    >>> from minigrad import finfo, float32
    >>> finfo(float32).eps
    1.1920928955078125e-07
    """

    __module__ = "minigrad"  # as in PyTorch: pickles name it

    def __init__(self, type: dtype | None = None) -> None:
        given = get_default_dtype() if type is None else as_dtype(type)
        if not isinstance(given, dtype) or not given.is_floating_point:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo "
                            "to handle 'torch.finfo'")
        limits = np.finfo(given.numpy)
        self.bits = given.itemsize * 8
        self.eps = float(limits.eps)
        self.max = float(limits.max)
        self.min = float(limits.min)
        self.tiny = self.smallest_normal = float(limits.tiny)
        self.resolution = float(str(limits.resolution))
        self.dtype = given.name

    def __repr__(self) -> str:
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
                f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
                f"dtype={self.dtype})")


class iinfo:
    """The limits of an integer dtype. Source: `torch.iinfo`.

    >>> from minigrad import iinfo, int8
    >>> iinfo(int8).max
    127
    """

    __module__ = "minigrad"  # as in PyTorch: pickles name it

    def __init__(self, type: dtype) -> None:
        type = as_dtype(type)
        if not isinstance(type, dtype) or type.is_floating_point:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to "
                            "handle 'torch.iinfo'")
        if type is boolean:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        limits = np.iinfo(type.numpy)
        self.bits = type.itemsize * 8
        self.max = int(limits.max)
        self.min = int(limits.min)
        self.dtype = type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
