"""Weights in safetensors files, the format of model hubs: it contains data but no code.

It needs the `safetensors` package (the extra `safetensors`). PyTorch reads and writes the same
files with `safetensors.torch`, so weights can be exchanged in both directions.

Source: https://huggingface.co/docs/safetensors
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..backend import backend_of
from ..device import backend_for
from ..tensor.tensor import Tensor

__all__ = ["load_file", "save_file"]


#: The format's names of minigrad's dtypes.
KNOWN = {"F64": "float64", "F32": "float32", "F16": "float16", "I64": "int64", "I32": "int32",
         "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool"}


def package() -> Any:
    """Return the module `safetensors`, or raise an error that says how to install it."""
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ImportError("reading and writing safetensors files needs the package safetensors: "
                          "install minigrad-course with the extra [safetensors]") from error
    return safetensors


def save_file(tensors: Mapping[str, Tensor], filename: str | os.PathLike[str],
              metadata: dict[str, str] | None = None) -> None:
    """Write tensors by name, such as a `state_dict`, to a file.

    Tensors that share memory are written separately. Raises `TypeError` for values that are not
    tensors.
    Source: `safetensors.torch.save_file`.

    >>> import os, tempfile
    >>> from minigrad import nn
    >>> path = os.path.join(tempfile.mkdtemp(), "linear.safetensors")
    >>> save_file(nn.Linear(2, 1).state_dict(), path)
    >>> sorted(load_file(path))
    ['bias', 'weight']
    """
    arrays = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"cannot save {name!r}, of type {type(tensor).__name__}: a safetensors "
                            "file holds only tensors by name")
        array = tensor._array
        arrays[name] = np.ascontiguousarray(backend_of(array).to_host(array)).reshape(array.shape)
    package().numpy.save_file(arrays, os.fspath(filename), metadata)


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """Return the tensors of a file by name, on a device.

    Raises `RuntimeError`, before it reads any tensor, for a damaged file and for dtypes that
    minigrad does not have, such as bfloat16. Source: `safetensors.torch.load_file`.

    >>> import os, tempfile
    >>> from minigrad import tensor
    >>> path = os.path.join(tempfile.mkdtemp(), "one.safetensors")
    >>> save_file({"bias": tensor([1.0, 2.0])}, path); load_file(path)
    {'bias': tensor([1., 2.])}
    """
    backend, library, path = backend_for(device), package(), os.fspath(filename)
    if not os.path.isfile(path):  # the library's own error does not name a folder
        raise FileNotFoundError(f"cannot load {path!r}: there is no such file")
    try:
        with library.safe_open(path, framework="numpy") as file:
            names = list(file.keys())
            for name in names:
                dtype = file.get_slice(name).get_dtype()
                if dtype not in KNOWN:
                    raise RuntimeError(f"cannot load {path!r}: {name!r} has the dtype {dtype}; "
                                       f"here are {', '.join(KNOWN)}: convert it first")
            return {name: Tensor._plain(backend.from_host(np.array(file.get_tensor(name))))
                    for name in names}
    except library.SafetensorError as error:
        raise RuntimeError(f"cannot load {path!r}: the file is damaged or no safetensors file "
                           f"({error})") from error
