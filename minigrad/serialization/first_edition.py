"""Reads the files that `save` wrote before it wrote PyTorch's format.

Such an archive has `structure.json`, with the containers, numbers and strings, and for each tensor
its dtype, shape, strides and offset in a memory; `memory/N.npy` holds memory N as an array of one
dimension.
"""

from __future__ import annotations

import json
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import device
from ..shapes import numel
from ..tensor.attributes import Size
from ..tensor.tensor import Parameter, Tensor
from .reading import DTYPES, Memory, Reader

__all__ = ["STRUCTURE", "JsonReader"]

Array = Any
Json = Any

STRUCTURE = "structure.json"
VERSION = 1

CLASSES: dict[str, type[Tensor]] = {"Tensor": Tensor, "Parameter": Parameter}
SEQUENCES: dict[str, Callable[..., Any]] = {
    "tuple": tuple, "Size": Size, "set": set, "frozenset": frozenset}
MAPPINGS: dict[str, Callable[..., Any]] = {"dict": dict, "OrderedDict": OrderedDict}


class JsonReader(Reader):
    """Makes objects of JSON and of the memories in an archive."""

    def __init__(self, archive: zipfile.ZipFile, map_location: Any) -> None:
        super().__init__(archive, STRUCTURE, map_location)
        self.records: list[Any] = []
        self.tensors: dict[int, Tensor] = {}
        self.hosts: dict[str, Array] = {}

    def read(self) -> Any:
        """Return the object."""
        structure = json.loads(self.archive.read(STRUCTURE))
        if structure["format"] != "minigrad" or structure["version"] > VERSION:
            raise RuntimeError(f"cannot load: format {structure['format']!r}, version "
                               f"{structure['version']}, is not known")
        self.records = structure["tensors"]
        return self.decode(structure["root"])

    def decode(self, value: Json) -> Any:
        """Return the object that JSON describes."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind = value["kind"]
        if kind == "tensor":
            return self.numbered(value["index"])
        if kind == "dtype":
            return DTYPES[value["name"]]
        if kind == "device":
            return device(value["name"])
        if kind == "bytes":
            return bytes.fromhex(value["hex"])
        if kind in SEQUENCES:
            return SEQUENCES[kind](self.decode(item) for item in value["items"])
        pairs = [(self.decode(key), self.decode(item)) for key, item in value["items"]]
        mapping = MAPPINGS[kind](pairs)
        if "metadata" in value and kind == "OrderedDict":
            vars(mapping)["_metadata"] = self.decode(value["metadata"])
        return mapping

    def numbered(self, index: int) -> Tensor:
        """Return tensor number `index`; it is made at the first use."""
        if index not in self.tensors:
            record = self.records[index]
            key = str(record["memory"])
            memory = Memory(key, DTYPES[record["dtype"]], record["device"], self.host(key).size)
            made = self.tensor(memory, record["offset"], tuple(record["shape"]),
                               tuple(record["strides"]), False, None)
            found = Tensor._plain_as(CLASSES[record["class"]], made._array)
            self.tensors[index] = found.requires_grad_() if record["requires_grad"] else found
        return self.tensors[index]

    def bytes_of(self, memory: Memory) -> Array:
        """Return a memory's values."""
        return self.host(memory.key).copy()

    def host(self, key: str) -> Array:
        """Read a memory, once."""
        if key not in self.hosts:
            name = f"memory/{key}.npy"
            with self.archive.open(name) as member:
                check_array(member, self.archive.getinfo(name).file_size)
            with self.archive.open(name) as member:
                host = np.lib.format.read_array(member, allow_pickle=False)
                member.read()  # to the end, which compares the checksum
            if host.ndim != 1:
                raise ValueError(f"memory {key} has {host.ndim} dimensions")
            self.hosts[key] = host
        return self.hosts[key]


def check_array(member: Any, length: int) -> None:
    """Raise `ValueError` unless a `.npy` file's header and its `length` agree."""
    version = np.lib.format.read_magic(member)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"an array in version {version} of its format")
    read_header = (np.lib.format.read_array_header_1_0 if version == (1, 0) else
                   np.lib.format.read_array_header_2_0)
    shape, _, dtype = read_header(member)
    if numel(shape) * dtype.itemsize != length - member.tell() and not dtype.hasobject:
        raise ValueError(f"an array of shape {shape} and dtype {dtype} in "
                         f"{length - member.tell()} bytes")
