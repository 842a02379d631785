"""`save` and `load`: tensors in nested containers, in the format of `torch.save` and `torch.load`.

NOTE [The format]
    A file is a zip archive like PyTorch's.  `data.pkl` is a pickle that describes the containers,
    numbers and strings, and for each tensor its shape, strides and offset in a memory; `data/N`
    holds the bytes of memory N.  Tensors that share memory share it again after loading, and a
    tensor saved twice is a single tensor again.

    A pickle is a program, and Python's unpickler runs any function that the pickle names.  Instead,
    `load` has its own interpreter (unpickling.py). It accepts only instructions that build
    containers and names from a table, so it can only produce tensors and plain data. It checks that
    every tensor is within its memory.  It does not trust sizes either: members must not be
    compressed, so that together they are no larger than the file, and memory is allocated only if
    its member has enough bytes.

Source of the interface: https://docs.pytorch.org/docs/stable/notes/serialization.html
"""

from __future__ import annotations

import os
import sys
import zipfile
from typing import Any, BinaryIO

from .pickling import Writer
from .reading import Reader
from .unpickling import Refused

__all__ = ["load", "save"]

File = str | os.PathLike[str] | BinaryIO

#: Errors that a malformed file may cause.
DAMAGE = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, EOFError,
          MemoryError, RecursionError, NotImplementedError)

#: How files of `torch.save` began before PyTorch 1.6: with a pickled magic number.
OLD_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


def save(obj: Any, f: File) -> None:
    """Write `obj` to a path or to a file opened for writing bytes; `torch.load` can read it too.

    `obj` may nest dicts, lists, tuples and sets of tensors, numbers, strings, bytes, dtypes,
    devices and `None`; a `TypeError` names the first object of another type. Source: `torch.save`.

    >>> import io
    >>> from minigrad import load, save, tensor
    >>> file = io.BytesIO()
    >>> save({"weight": tensor([1.0, 2.0]), "step": 3}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'weight': tensor([1., 2.]), 'step': 3}
    """
    writer = Writer()
    program = writer.program(obj)
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr(zipfile.ZipInfo("archive/data.pkl"), program)
        archive.writestr(zipfile.ZipInfo("archive/byteorder"), sys.byteorder)
        for index, memory in enumerate(writer.memories):
            archive.writestr(zipfile.ZipInfo(f"archive/data/{index}"), memory.data.cast("B")
                             if memory.size else b"")
        archive.writestr(zipfile.ZipInfo("archive/version"), "3\n")


def load(f: File, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read what `save` or `torch.save` wrote: state dicts, tensors, and plain data around them.

    `map_location` determines where tensors go: a device, a dict that maps saved device names to
    others, or a function of a tensor and a device name. `weights_only` has no effect, because
    `load` never runs code and so refuses a whole pickled module. Raises `RuntimeError` for a file
    that is damaged or contains anything else. Source: `torch.load`.

    >>> import os, tempfile
    >>> from minigrad import nn
    >>> path = os.path.join(tempfile.mkdtemp(), "layer.pt")
    >>> save(nn.Linear(2, 1).state_dict(), path)
    >>> {name: tuple(value.shape) for name, value in load(path).items()}
    {'weight': (1, 2), 'bias': (1,)}
    """
    if not isinstance(f, (str, os.PathLike)) and not (hasattr(f, "read") and hasattr(f, "seek")):
        raise AttributeError("load(): argument 'f' must be a path or a file opened for reading "
                             f"bytes, not {type(f).__name__}")
    try:
        with zipfile.ZipFile(f) as archive:
            return read_archive(archive, map_location)
    except zipfile.BadZipFile as error:
        raise RuntimeError(f"cannot load: {old_or_damaged(f, error)}") from error


def old_or_damaged(f: File, error: Exception) -> str:
    """Explain why a file is not an archive."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            start = file.read(len(OLD_MAGIC))
    else:
        f.seek(0)
        start = f.read(len(OLD_MAGIC))
    if start == OLD_MAGIC:
        return ("the file has the format of PyTorch before version 1.6; load it with PyTorch and "
                "save it again")
    return f"the file is truncated, damaged or was not written by save ({error})"


def read_archive(archive: zipfile.ZipFile, map_location: Any) -> Any:
    """Return the object in an open archive."""
    check_sizes(archive)
    try:
        return reader_for(archive, map_location).read()
    except Refused as error:
        raise RuntimeError(f"cannot load: {error}; only tensors and plain data are read: save a "
                           "state_dict()") from error
    except DAMAGE as error:
        raise RuntimeError(f"cannot load: the file is damaged ({type(error).__name__}: "
                           f"{error})") from error


def reader_for(archive: zipfile.ZipFile, map_location: Any) -> Reader:
    """Return a reader for the archive's format."""
    names = archive.namelist()
    programs = [name for name in names if name.endswith("/data.pkl")]
    if len(programs) != 1:
        raise RuntimeError("cannot load: this zip archive was not written by save")
    if f"{programs[0][:-len('data.pkl')]}constants.pkl" in names:
        raise RuntimeError("cannot load: a TorchScript archive, which holds code")
    return Reader(archive, programs[0], map_location)


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
