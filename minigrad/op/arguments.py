"""Checks of arguments that many ops share, with PyTorch's error texts."""

from __future__ import annotations

from typing import Any

from ..dtypes import from_numpy_dtype
from .apply import type_name


def require(array: Any, kinds: str, kernel: str) -> None:
    """Raise PyTorch's error unless a kernel has code for the array's dtype; `kinds` as in NumPy."""
    if array.dtype.kind not in kinds:
        kind = type_name(from_numpy_dtype(array.dtype))
        raise NotImplementedError(f'"{kernel}" not implemented for \'{kind}\'')
