"""`save` and `load`: tensors in nested containers, in a file that holds data and no code.

NOTE [The format]
    A file is a zip archive.  `structure.json` holds the containers, numbers and strings, and for
    each tensor its dtype, shape, strides and offset in a memory; `memory/N.npy` holds memory N
    as a one-dimensional array.  Tensors that share memory share it again after loading, and one
    tensor saved twice is one tensor again.  Reading runs nothing from the file: there is no
    pickle in it, and every tensor is checked to lie within its memory.  Nor is a size believed:
    members are not compressed, so that together they are no larger than the file, and an array
    is made only when its member has the bytes for it.

Source of the interface: https://docs.pytorch.org/docs/stable/notes/serialization.html
"""

from __future__ import annotations

import json
import os
import zipfile
from collections import OrderedDict
from typing import Any, BinaryIO

import numpy as np

from . import dtypes
from .backend import backend_of
from .backend.memory_layout import is_dense
from .device import as_device, build_on, device
from .shapes import numel
from .tensor.attributes import Size, data_pointer, storage_of
from .tensor.tensor import Parameter, Tensor

Array = Any
File = str | os.PathLike[str] | BinaryIO

FORMAT = "minigrad"
VERSION = 1
STRUCTURE = "structure.json"

#: Tensor classes that keep their type; saving another subclass is an error.
CLASSES = {"Tensor": Tensor, "Parameter": Parameter}
SEQUENCES: dict[str, Any] = {"tuple": tuple, "Size": Size, "set": set, "frozenset": frozenset}
MAPPINGS: dict[str, Any] = {"dict": dict, "OrderedDict": OrderedDict}
DTYPES = {d.name: d for d in dtypes.ALL}


def save(obj: Any, f: File) -> None:
    """Write `obj` to a path or to a file opened for writing bytes.

    `obj` may nest dicts, lists, tuples and sets of tensors, numbers, strings, bytes, dtypes,
    devices and None; `TypeError` names the first thing that is none of these.
    Source: `torch.save`.

    >>> import io
    >>> from minigrad import load, save, tensor
    >>> file = io.BytesIO()
    >>> save({"weight": tensor([1.0, 2.0]), "step": 3}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'weight': tensor([1., 2.]), 'step': 3}
    """
    writer = Writer()
    root = writer.encode(obj, "")
    structure = {"format": FORMAT, "version": VERSION, "root": root, "tensors": writer.tensors}
    text = json.dumps(structure)
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr(STRUCTURE, text)
        for index, memory in enumerate(writer.memories):
            with archive.open(f"memory/{index}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, memory, allow_pickle=False)


def load(f: File, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read what `save` wrote; `map_location` is the device to put all tensors on.

    `weights_only` changes nothing: a file never holds anything but data. `RuntimeError` for a
    file that is damaged or was not written by `save`. Source: `torch.load`.
    """
    try:
        with zipfile.ZipFile(f) as archive:
            return read_archive(archive, map_location)
    except zipfile.BadZipFile as error:
        raise RuntimeError("cannot load: the file is truncated, damaged or was not written by "
                           f"minigrad's save ({error})") from error


def read_archive(archive: zipfile.ZipFile, map_location: Any) -> Any:
    """Return the object that an open archive holds."""
    check_sizes(archive)
    names = archive.namelist()
    if STRUCTURE not in names:
        if any(name.endswith("data.pkl") for name in names):
            raise RuntimeError("cannot load: PyTorch wrote this file, with pickle, which can run "
                               "code: save its arrays with numpy.savez there")
        raise RuntimeError("cannot load: a zip archive, but not one that minigrad's save wrote")
    try:
        structure = json.loads(archive.read(STRUCTURE))
        if structure["format"] != FORMAT or structure["version"] > VERSION:
            raise RuntimeError(f"cannot load: format {structure['format']!r}, version "
                               f"{structure['version']}; this minigrad reads {FORMAT!r} up to "
                               f"version {VERSION}")
        reader = Reader(archive, structure["tensors"], map_location)
        return reader.decode(structure["root"])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, EOFError,
            MemoryError, RecursionError) as error:
        raise RuntimeError(f"cannot load: the file is damaged ({type(error).__name__}: "
                           f"{error})") from error


def check_sizes(archive: zipfile.ZipFile) -> None:
    """Raise `RuntimeError` if reading would take more memory than the file is long."""
    members = archive.infolist()
    assert archive.fp is not None
    here = archive.fp.tell()
    length = archive.fp.seek(0, os.SEEK_END)
    archive.fp.seek(here)
    if any(each.compress_type != zipfile.ZIP_STORED for each in members):
        raise RuntimeError("cannot load: a compressed archive, which minigrad's save never writes")
    if sum(each.file_size for each in members) > length:
        raise RuntimeError("cannot load: the file is damaged: it is shorter than its members")


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


class Writer:
    """Turns an object into JSON, and collects its tensors and their memories."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []
        self.memories: list[Array] = []
        self.known_tensors: dict[int, int] = {}
        self.known_memories: dict[int, int] = {}
        self.open: set[int] = set()  # the containers around the current object
        self.kept: list[Any] = []  # keeps objects alive while their ids are in use

    def encode(self, value: Any, where: str) -> Any:
        """Return the JSON for a value; `where` is how it is reached, for errors."""
        if value is None or value is True or value is False or isinstance(value, str):
            return value
        if isinstance(value, (int, float)):
            return float(value) if isinstance(value, float) else int(value)
        if isinstance(value, Tensor):
            return {"kind": "tensor", "index": self.tensor(value, where)}
        if isinstance(value, dtypes.dtype):
            return {"kind": "dtype", "name": value.name}
        if isinstance(value, device):
            return {"kind": "device", "name": str(value)}
        if isinstance(value, bytes):
            return {"kind": "bytes", "hex": value.hex()}
        if id(value) in self.open:
            raise TypeError(f"cannot save obj{where}: it contains itself")
        self.open.add(id(value))
        try:
            return self.container(value, where)
        finally:
            self.open.discard(id(value))

    def container(self, value: Any, where: str) -> Any:
        """Return the JSON for a list, tuple, set or dict."""
        if type(value) is list:
            return [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
        for kind, cls in SEQUENCES.items():
            if type(value) is cls:
                items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
                return {"kind": kind, "items": items}
        for kind, cls in MAPPINGS.items():
            if type(value) is cls:
                pairs = [[self.encode(key, f"{where} key {key!r}"),
                          self.encode(item, f"{where}[{key!r}]")] for key, item in value.items()]
                written = {"kind": kind, "items": pairs}
                if cls is OrderedDict and "_metadata" in vars(value):  # as state_dict() has
                    written["metadata"] = self.encode(vars(value)["_metadata"], f"{where} metadata")
                return written
        advice = ""
        if isinstance(value, (np.ndarray, np.generic)):
            advice = "; make it a tensor or a Python number first"
        elif hasattr(value, "state_dict"):
            advice = "; save its state_dict() instead"
        raise TypeError(f"cannot save obj{where}, of type {type(value).__name__}{advice}")

    def tensor(self, value: Tensor, where: str) -> int:
        """Describe a tensor, once, and return its number."""
        known = self.known_tensors.get(id(value))
        if known is not None:
            return known
        kind = type(value).__name__
        if CLASSES.get(kind) is not type(value):
            raise TypeError(f"cannot save obj{where}, of type {kind}, a subclass of Tensor; save "
                            "the tensor it holds")
        array = value._array
        storage = storage_of(array)
        if not is_dense(storage):  # a view into memory that another object owns
            array = storage = array.copy()
        self.tensors.append({
            "class": kind,
            "memory": self.memory(storage),
            "dtype": value.dtype.name,
            "shape": list(array.shape),
            "strides": [s // array.itemsize for s in array.strides],
            "offset": (data_pointer(array) - data_pointer(storage)) // array.itemsize,
            "requires_grad": value.requires_grad,
            "device": str(value.device),
        })
        self.kept += [value, storage]
        self.known_tensors[id(value)] = len(self.tensors) - 1
        return len(self.tensors) - 1

    def memory(self, storage: Array) -> int:
        """Keep the values of an array that owns its memory, once, and return their number."""
        known = self.known_memories.get(id(storage))
        if known is None:
            host = backend_of(storage).to_host(storage)
            known = self.known_memories[id(storage)] = len(self.memories)
            self.memories.append(host.ravel(order="K"))
        return known


class Reader:
    """Makes objects of JSON and of the memories in an archive."""

    def __init__(self, archive: zipfile.ZipFile, tensors: list[Any], map_location: Any) -> None:
        self.archive = archive
        self.records = tensors
        self.map_location = map_location
        self.tensors: dict[int, Tensor] = {}
        self.memories: dict[tuple[int, str], Array] = {}

    def decode(self, value: Any) -> Any:
        """Return the object that JSON describes."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind = value["kind"]
        if kind == "tensor":
            return self.tensor(value["index"])
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

    def tensor(self, index: int) -> Tensor:
        """Return tensor number `index`; it is made at the first use."""
        found = self.tensors.get(index)
        if found is None:
            record = self.records[index]
            where = as_device(record["device"] if self.map_location is None else self.map_location)
            array = build_on(where, lambda xp: self.array(record, xp, where))
            found = Tensor._plain_as(CLASSES[record["class"]], array)
            if record["requires_grad"]:
                found.requires_grad_()
            self.tensors[index] = found
        return found

    def array(self, record: dict[str, Any], xp: Any, where: device) -> Array:
        """Return the array of a tensor, a view of its memory on the current device, `where`."""
        memory = self.memory(record["memory"], DTYPES[record["dtype"]].numpy, xp, where)
        shape, strides, offset = tuple(record["shape"]), tuple(record["strides"]), record["offset"]
        check_bounds(shape, strides, offset, memory.size)
        return xp.as_strided(memory[offset:], shape, tuple(s * memory.itemsize for s in strides))

    def memory(self, index: int, numpy_dtype: Any, xp: Any, where: device) -> Array:
        """Return memory number `index` as a writable array on the current device, `where`."""
        key = (index, str(where))
        if key not in self.memories:
            name = f"memory/{index}.npy"
            with self.archive.open(name) as member:
                check_array(member, self.archive.getinfo(name).file_size)
            with self.archive.open(name) as member:
                host = np.lib.format.read_array(member, allow_pickle=False)
                member.read()  # reading to the end compares the checksum
            if host.ndim != 1 or host.dtype != numpy_dtype:
                raise ValueError(f"memory {index} has another dtype than its tensor")
            self.memories[key] = xp.from_host(host)
        return self.memories[key]


def check_bounds(shape: Any, strides: Any, offset: Any, size: int) -> None:
    """Raise `ValueError` unless all elements lie within a memory of `size` elements."""
    numbers = (*shape, *strides, offset)
    if len(shape) != len(strides) or any(type(n) is not int or n < 0 for n in numbers):
        raise ValueError("a tensor's shape, strides or offset is no list of numbers from 0 up")
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if numel(shape) and last >= size:
        raise ValueError("a tensor reaches beyond its memory")
