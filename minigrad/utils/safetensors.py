"""Weights in safetensors files, the format that model hubs exchange: data and no code.

It needs the `safetensors` package (the extra `safetensors`). PyTorch reads and writes the same
files by `safetensors.torch`, so weights move both ways.

Source: https://huggingface.co/docs/safetensors
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..backend import backend_of
from ..device import backend_for
from ..tensor import Tensor

__all__ = ["load_file", "save_file"]


def package() -> Any:
    """Return the module `safetensors.numpy`, or say how to get it."""
    try:
        import safetensors.numpy as found
    except ImportError as error:
        raise ImportError("reading and writing safetensors files needs the package safetensors: "
                          "install minigrad-course with the extra [safetensors]") from error
    return found


def save_file(tensors: Mapping[str, Tensor], filename: str | os.PathLike[str],
              metadata: dict[str, str] | None = None) -> None:
    """Write tensors by name, such as a `state_dict`, to a file.

    `TypeError` for what is no tensor. Tensors that share memory are written once each.
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
    package().save_file(arrays, os.fspath(filename), metadata)


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """Return the tensors of a file by name, on a device.

    Source: `safetensors.torch.load_file`.
    """
    backend = backend_for(device)
    arrays = package().load_file(os.fspath(filename))
    return {name: Tensor._plain(backend.from_host(np.array(array)))
            for name, array in arrays.items()}
