"""Reads an archive of `save` or `torch.save`: its pickle, and the memories of its tensors."""

from __future__ import annotations

import sys
import zipfile
from collections import OrderedDict
from typing import Any

import numpy as np

from .. import dtypes
from ..backend import numpy_backend
from ..device import as_device, build_on, device
from ..shapes import numel
from ..tensor.attributes import Size
from ..tensor.tensor import Parameter, Tensor
from .pickling import STORAGES
from .unpickling import Constructor, Refused, checked_key, unpickle

__all__ = ["DTYPES", "Memory", "Reader"]

Array = Any

DTYPES = {d.name: d for d in dtypes.ALL}
DTYPES_OF_STORAGES = {name: dtype for dtype, name in STORAGES.items()}


class Memory:
    """A memory in the file: its member, dtype, device and size."""

    def __init__(self, key: str, dtype: dtypes.dtype, place: str, size: int) -> None:
        self.key = key
        self.dtype = dtype
        self.place = place
        self.size = size


class Reader:
    """Builds objects from an archive's pickle and memories."""

    def __init__(self, archive: zipfile.ZipFile, program: str, map_location: Any) -> None:
        self.archive = archive
        self.program = program
        self.folder = program[:-len("data.pkl")]
        self.map_location = map_location
        self.arrays: dict[tuple[str, str], Array] = {}
        self.places: dict[str, device] = {}
        order = self.folder + "byteorder"
        swapped = "big" if sys.byteorder == "little" else "little"
        self.is_swapped = order in archive.namelist() and archive.read(order) == swapped.encode()

    def read(self) -> Any:
        """Return the object."""
        return unpickle(self.archive.read(self.program), self.named, self.external)

    # ---------------------------------------------------------------- names

    def named(self, module: str, name: str) -> Any:
        """Return the object for a name in the pickle."""
        if module == "torch" and name in DTYPES:
            return DTYPES[name]
        if module == "torch" and name in DTYPES_OF_STORAGES:
            return DTYPES_OF_STORAGES[name]
        if module == "torch" and name.endswith("Storage"):
            raise Refused(f"a tensor has the dtype of a {name}, which NumPy does not have")
        if f"{module} {name}" == "torch._utils _rebuild_tensor_v2":
            return Constructor(self.tensor)
        if f"{module} {name}" in CONSTRUCTORS:
            return CONSTRUCTORS[f"{module} {name}"]
        raise Refused(f"the pickle names {module}.{name}")

    def external(self, reference: Any) -> Memory:
        """Return the memory that a pickle refers to."""
        tag, dtype, key, place, size = reference
        if tag != "storage" or not isinstance(dtype, dtypes.dtype) or type(size) is not int:
            raise Refused("the pickle refers to something that is not a memory")
        return Memory(str(key), dtype, str(place), size)

    # ---------------------------------------------------------------- tensors

    def tensor(self, memory: Memory, offset: int, shape: Any, strides: Any, requires_grad: bool,
               hooks: Any, metadata: Any = None) -> Tensor:
        """Return a tensor as a view of its memory."""
        if not isinstance(memory, Memory):
            raise Refused("the pickle creates a tensor without memory")
        check_bounds(shape, strides, offset, memory.size)
        where = self.place(memory)

        def build(xp: Any) -> Array:
            array = self.array(memory, xp, where)
            return xp.as_strided(array[offset:], shape, tuple(s * array.itemsize for s in strides))

        found = Tensor._plain_as(Tensor, build_on(where, build))
        return found.requires_grad_() if requires_grad else found

    def place(self, memory: Memory) -> device:
        """Return the device for a memory."""
        given, saved = self.map_location, memory.place
        if callable(given):
            if memory.key not in self.places:
                host = Tensor._plain(self.array(memory, numpy_backend, as_device("cpu")))
                answer = given(host, saved)
                self.places[memory.key] = as_device(saved if answer is None else answer.device)
            return self.places[memory.key]
        if isinstance(given, dict):
            given = given.get(saved)
        return as_device(saved if given is None else given)

    def array(self, memory: Memory, xp: Any, where: device) -> Array:
        """Return a memory as a writable array on `where`, the current device."""
        key = (memory.key, str(where))
        if key not in self.arrays:
            self.arrays[key] = xp.from_host(self.bytes_of(memory))
        found = self.arrays[key]
        if found.dtype != memory.dtype.numpy or found.size != memory.size:
            raise ValueError(f"memory {memory.key} has another dtype or size than its tensor")
        return found

    def bytes_of(self, memory: Memory) -> Array:
        """Read a memory."""
        name = f"{self.folder}data/{memory.key}"
        numpy_dtype, length = memory.dtype.numpy, self.archive.getinfo(name).file_size
        if memory.size < 0 or memory.size * numpy_dtype.itemsize != length:
            raise ValueError(f"memory {memory.key} of {memory.size} elements in {length} bytes")
        host = np.empty(memory.size, numpy_dtype)
        with self.archive.open(name) as member:
            data = member.read()  # reading to the end verifies the checksum
        host.view(np.uint8)[...] = np.frombuffer(data, np.uint8)
        return host.byteswap() if self.is_swapped else host


def parameter(data: Any, requires_grad: Any, hooks: Any) -> Parameter:
    """Turn a tensor into a parameter."""
    if not isinstance(data, Tensor):
        raise Refused("the pickle creates a parameter from something that is not a tensor")
    made = Tensor._plain_as(Parameter, data._array)
    return made.requires_grad_() if requires_grad else made


def ordered(items: Any = ()) -> OrderedDict[Any, Any]:
    """Build an ordered dict from pairs."""
    return OrderedDict((checked_key(key), value) for key, value in items)


def encoded(text: Any, encoding: Any) -> bytes:
    """Encode characters as bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise Refused("the pickle encodes text")
    return text.encode("latin1")


CONSTRUCTORS = {
    "torch._utils _rebuild_parameter": Constructor(parameter),
    "collections OrderedDict": Constructor(ordered),
    "torch Size": Constructor(Size),
    "torch device": Constructor(lambda *of: device(":".join(map(str, of)))),
    "_codecs encode": Constructor(encoded),
} | {f"{module} {kind.__name__}": Constructor(lambda items=(), kind=kind: kind(
        map(checked_key, items))) for module in ("__builtin__", "builtins")
    for kind in (set, frozenset)}


def check_bounds(shape: Any, strides: Any, offset: Any, size: int) -> None:
    """Raise `ValueError` unless all elements are within a memory of `size` elements."""
    numbers = (*shape, *strides, offset)
    if len(shape) != len(strides) or any(type(n) is not int or n < 0 for n in numbers):
        raise ValueError("a tensor's shape, strides or offset has a negative or non-integer number")
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if numel(shape) and last >= size:
        raise ValueError("a tensor reaches beyond its memory")
