"""Names that PyTorch's files give to the memories of tensors, and the dtypes behind these names."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .. import dtypes

__all__ = ["BY_DTYPE", "BY_NAME", "StorageType"]

Array = Any


class StorageType:
    """The type of a memory in a file: its name there, and the dtype that it has after loading."""

    def __init__(self, name: str, dtype: dtypes.dtype, in_file: Any = None) -> None:
        self.name = name
        self.dtype = dtype
        self.in_file = np.dtype(in_file or dtype.numpy)
        self.qualified = "torch.storage UntypedStorage" if name == "Untyped" else f"torch {name}"

    def fill(self, host: Array, data: bytes, byteorder: str) -> None:
        """Write the bytes of a file into an array of the memory's size."""
        found = np.frombuffer(data, self.in_file)
        if byteorder != sys.byteorder:
            found = found.byteswap()
        if self.in_file == host.dtype:
            host.view(np.uint8)[...] = found.view(np.uint8)  # any bits, even in a bool
        else:  # bfloat16 is the upper half of a float32
            host.view(np.uint32)[...] = found.astype(np.uint32) << 16


BY_DTYPE = {each.dtype: each for each in (
    StorageType("DoubleStorage", dtypes.float64), StorageType("FloatStorage", dtypes.float32),
    StorageType("HalfStorage", dtypes.float16), StorageType("LongStorage", dtypes.int64),
    StorageType("IntStorage", dtypes.int32), StorageType("ShortStorage", dtypes.int16),
    StorageType("CharStorage", dtypes.int8), StorageType("ByteStorage", dtypes.uint8),
    StorageType("BoolStorage", dtypes.bool))}

BY_NAME = {each.qualified: each for each in (
    *BY_DTYPE.values(), StorageType("Untyped", dtypes.uint8),
    StorageType("BFloat16Storage", dtypes.float32, np.uint16))}
