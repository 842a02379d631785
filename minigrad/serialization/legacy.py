"""The format of PyTorch before version 1.6: five pickles, then the memories one after another.

The pickles are a magic number, a version, a dict about the machine, the object, and the list of
the memories' keys. Tensors exist before their memories have been read, so the memories are filled
in at the end.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from ..backend import backend_of
from ..device import place_on
from .pickling import Writer
from .reading import Reader, empty_host
from .storage_types import StorageType
from .unpickling import Refused, unpickle

__all__ = ["MAGIC", "LegacyReader", "write"]

MAGIC = 0x1950A86A20F9469CFC6C
VERSION = 1001


def write(writer: Writer, program: bytes, file: BinaryIO) -> None:
    """Write a pickle and its memories in the old format."""
    machine = {"protocol_version": VERSION, "little_endian": sys.byteorder == "little",
               "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for head in (MAGIC, VERSION, machine):
        file.write(pickle.dumps(head, protocol=2))
    file.write(program)
    numbers = sorted(range(len(writer.memories)), key=str)
    file.write(pickle.dumps([str(number) for number in numbers], protocol=2))
    for number in numbers:
        file.write(writer.legacy_data(number))


class LegacyReader(Reader):
    """Reads the old format from a file."""

    def __init__(self, file: BinaryIO, map_location: Any) -> None:
        super().__init__(map_location)
        start = file.tell()
        self.length = file.seek(0, os.SEEK_END) - start
        file.seek(start)
        self.file: BinaryIO = io.BytesIO(file.read())
        self.allocated = 0

    def read(self, object_of: Callable[[BinaryIO], Any]) -> Any:
        """Return the object; `object_of` interprets its pickle."""
        if self.plain() != MAGIC:
            raise RuntimeError("Invalid magic number; corrupt file?")
        version = self.plain()
        if version != VERSION:
            raise RuntimeError(f"Invalid protocol version: {version}")
        self.byteorder = "little" if self.plain()["little_endian"] else "big"
        result = object_of(self.file)
        for key in self.plain():
            self.fill(str(key))
        return result

    def plain(self) -> Any:
        """Return the next pickle of numbers and texts."""
        return unpickle(self.file, no_names, no_names)

    def host(self, storage_type: StorageType, key: str, size: int) -> Any:
        """Allocate a memory."""
        self.allocated += size * storage_type.in_file.itemsize
        if self.allocated > self.length:
            raise ValueError(f"memory {key} of {size} elements is longer than the file")
        return empty_host(storage_type, size)

    def fill(self, key: str) -> None:
        """Read the next memory."""
        storage_type, host = self.hosts[key]
        size, = struct.unpack("<q" if self.byteorder == "little" else ">q", self.file.read(8))
        data = self.file.read(len(host) * storage_type.in_file.itemsize)
        if size != len(host) or len(data) != len(host) * storage_type.in_file.itemsize:
            raise ValueError(f"memory {key} is truncated")
        storage_type.fill(host, data, self.byteorder)
        elements = self.storages[key]._elements
        if elements is not host:
            with place_on(elements):
                elements[...] = backend_of(elements).from_host(host)


def no_names(*name: Any) -> Any:
    """Refuse a name in a pickle of numbers and texts."""
    raise Refused(f"the pickle names {'.'.join(map(str, name))}")
