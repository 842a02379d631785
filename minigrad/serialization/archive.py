"""The format of PyTorch since version 1.6: a zip archive. See NOTE [The format] in files.py."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from typing import Any, BinaryIO

from .pickling import Writer
from .reading import Reader, empty_host
from .storage_types import StorageType

__all__ = ["ArchiveReader", "program_in", "write"]


def write(writer: Writer, program: bytes, f: Any, has_byteorder: bool = True) -> None:
    """Write a pickle and its memories as an archive."""
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr(zipfile.ZipInfo("archive/data.pkl"), program)
        if has_byteorder:
            archive.writestr(zipfile.ZipInfo("archive/byteorder"), sys.byteorder)
        for number in range(len(writer.memories)):
            archive.writestr(zipfile.ZipInfo(f"archive/data/{number}"), writer.data(number))
        archive.writestr(zipfile.ZipInfo("archive/version"), "3\n")


class ArchiveReader(Reader):
    """Reads memories from an archive's members."""

    def __init__(self, archive: zipfile.ZipFile, map_location: Any) -> None:
        super().__init__(map_location)
        self.archive = archive
        program = program_in(archive)
        self.folder = program[:-len("data.pkl")]
        self.program: BinaryIO = io.BytesIO(archive.read(program))
        order = self.folder + "byteorder"
        if order in archive.namelist():
            self.byteorder = archive.read(order).decode()

    def host(self, storage_type: StorageType, key: str, size: int) -> Any:
        """Read a memory."""
        name = f"{self.folder}data/{key}"
        length = self.archive.getinfo(name).file_size
        if size * storage_type.in_file.itemsize != length:
            raise ValueError(f"memory {key} of {size} elements in {length} bytes")
        host = empty_host(storage_type, size)
        with self.archive.open(name) as member:
            data = member.read()  # reading to the end verifies the checksum
        storage_type.fill(host, data, self.byteorder)
        return host


def program_in(archive: zipfile.ZipFile) -> str:
    """Return the name of the pickle in an archive; raise `RuntimeError` if it is missing."""
    check_sizes(archive)
    names = archive.namelist()
    programs = [name for name in names if name.endswith("/data.pkl")]
    if len(programs) != 1:
        raise RuntimeError("cannot load: this zip archive was not written by save")
    if f"{programs[0][:-len('data.pkl')]}constants.pkl" in names:
        raise RuntimeError("cannot load: a TorchScript archive, which holds code")
    return programs[0]


def check_sizes(archive: zipfile.ZipFile) -> None:
    """Raise `RuntimeError` if reading would take more memory than the file's length."""
    members = archive.infolist()
    assert archive.fp is not None
    here = archive.fp.tell()
    length = archive.fp.seek(0, os.SEEK_END)
    archive.fp.seek(here)
    if any(each.compress_type != zipfile.ZIP_STORED for each in members):
        raise RuntimeError("cannot load: a compressed archive, which save never writes")
    if sum(each.file_size for each in members) > length:
        raise RuntimeError("cannot load: the file is damaged: it is shorter than its members")
