"""`torch.types`: names for annotations.

Source: https://github.com/pytorch/pytorch/blob/v2.13.0/torch/types.py
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from .autograd.graph import GradientEdge
from .device import device
from .dtypes import dtype
from .ops.shape.storages import TypedStorage, UntypedStorage
from .tensor.attributes import Size
from .tensor.tensor import Tensor

__all__ = ["Device", "FileLike", "Number", "Storage"]

_bool: TypeAlias = builtins.bool
_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_complex: TypeAlias = builtins.complex
_dtype: TypeAlias = dtype
_device: TypeAlias = device
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_symsize: TypeAlias = Size | Sequence[int]
_dispatchkey: TypeAlias = str
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrTensorsOrGradEdge: TypeAlias = _TensorOrTensors | GradientEdge | Sequence[GradientEdge]
_TensorOrOptionalTensors: TypeAlias = Tensor | Sequence[Tensor | None]

Number: TypeAlias = int | float | bool
_Number = (int, float, bool)
BoolLikeType: TypeAlias = bool
IntLikeType: TypeAlias = int
FloatLikeType: TypeAlias = float
PySymType: TypeAlias = Any
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Device: TypeAlias = device | str | int | None
Storage: TypeAlias = UntypedStorage | TypedStorage
