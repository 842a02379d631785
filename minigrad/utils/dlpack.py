"""`utils.dlpack`: exchange tensors with other libraries without copying.

Source: https://docs.pytorch.org/docs/stable/dlpack.html
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..op.publish import FUNCTIONS
from ..tensor.tensor import Tensor, from_array

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """Return a DLPack capsule that shares the tensor's memory; it can be read once.

    Other libraries also accept the tensor itself, through its `__dlpack__`. Source:
    `torch.utils.dlpack.to_dlpack`.

    >>> from minigrad import ones
    >>> from_dlpack(to_dlpack(ones(2)))
    tensor([1., 1.])
    """
    return tensor.__dlpack__(max_version=(1, 0))  # declares the memory writable


def from_dlpack(ext_tensor: Any) -> Tensor:
    """Return a tensor that shares memory with another library's tensor, or with a DLPack capsule.

    Source: `torch.utils.dlpack.from_dlpack`.
    """
    capsule = type(ext_tensor).__name__ == "PyCapsule"
    result: Tensor = FUNCTIONS["from_dlpack"](_Capsule(ext_tensor) if capsule else ext_tensor)
    array = result._array
    if capsule and isinstance(array, np.ndarray) and not array.flags.writeable:
        return from_array(np.asarray(_Writable(array)))
    return result


class _Writable:
    """An array's memory as writable, since capsules before version 1 do not declare it writable."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        interface = dict(self.array.__array_interface__)
        return interface | {"data": (interface["data"][0], False)}


class _Capsule:
    """Wrapper that gives libraries a capsule and its device."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        """Read the type and number of the device; they follow the address of the data.

        From version 1 on, four words precede that address.
        """
        python, word = ctypes.pythonapi, ctypes.sizeof(ctypes.c_void_p)
        python.PyCapsule_GetName.restype = ctypes.c_char_p
        python.PyCapsule_GetName.argtypes = [ctypes.py_object]
        python.PyCapsule_GetPointer.restype = ctypes.c_void_p
        python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        name = python.PyCapsule_GetName(self.capsule)
        start = python.PyCapsule_GetPointer(self.capsule, name)
        words = 5 if name == b"dltensor_versioned" else 1
        device_code, index = (ctypes.c_int32 * 2).from_address(start + words * word)
        return device_code, index
