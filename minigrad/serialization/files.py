"""`save` and `load`: tensors in nested containers, in the files of `torch.save` and `torch.load`.

NOTE [The format]
    A file is a zip archive, as PyTorch writes it.  `data.pkl` is a pickle that describes the
    containers, numbers and strings, and for each tensor its shape, strides and offset in a
    memory; `data/N` holds the bytes of memory N.  Tensors that share memory share it again after
    loading, and one tensor saved twice is one tensor again.

    A pickle is a program, and Python's own unpickler runs any function that it names.  `load` has
    an interpreter of its own (unpickling.py), which knows the instructions that build containers,
    and a table of the names that it accepts: nothing but tensors and plain data can come of it.
    Every tensor is checked to lie within its memory.  Nor is a size believed: members are not
    compressed, so that together they are no larger than the file, and a memory is made only when
    its member has the bytes for it.

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

#: Errors of a file that is not as it should be.
DAMAGE = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, EOFError,
          MemoryError, RecursionError, NotImplementedError)

#: How the files of `torch.save` began before PyTorch 1.6: a pickled magic number.
OLD_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


def save(obj: Any, f: File) -> None:
    """Write `obj` to a path or to a file opened for writing bytes; `torch.load` reads it too.

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

    `map_location` says where tensors go: a device, a dict from the names of devices that were
    saved to others, or a function of a tensor and such a name. `weights_only` changes nothing:
    code is never run, so a whole pickled module is refused. `RuntimeError` for a file that is
    damaged, or holds anything else. Source: `torch.load`.

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
    """Say why a file is no archive."""
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
    """Return the object that an open archive holds."""
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
    """Return a reader of the archive's format."""
    names = archive.namelist()
    programs = [name for name in names if name.endswith("/data.pkl")]
    if len(programs) != 1:
        raise RuntimeError("cannot load: a zip archive, but not one that save wrote")
    if f"{programs[0][:-len('data.pkl')]}constants.pkl" in names:
        raise RuntimeError("cannot load: a TorchScript archive, which holds code")
    return Reader(archive, programs[0], map_location)


def check_sizes(archive: zipfile.ZipFile) -> None:
    """Raise `RuntimeError` if reading would take more memory than the file is long."""
    members = archive.infolist()
    assert archive.fp is not None
    here = archive.fp.tell()
    length = archive.fp.seek(0, os.SEEK_END)
    archive.fp.seek(here)
    if any(each.compress_type != zipfile.ZIP_STORED for each in members):
        raise RuntimeError("cannot load: a compressed archive, which save never writes")
    if sum(each.file_size for each in members) > length:
        raise RuntimeError("cannot load: the file is damaged: it is shorter than its members")
