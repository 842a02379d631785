"""`save` and `load`: objects with tensors in them, in the format of `torch.save` and `torch.load`.

NOTE [The format]
    A file is a zip archive like PyTorch's.  `data.pkl` is a pickle that describes the object, and
    for each tensor its shape, strides and offset in a memory; `data/N` holds the bytes of memory N.
    Tensors that share memory share it again after loading, and a tensor saved twice is a single
    tensor again. legacy.py has the older format.

    A pickle is a program, and Python's unpickler runs any function that the pickle names.  Instead,
    `load` has its own interpreter (unpickling.py). It accepts only instructions that build
    containers, names from a table, and classes that the caller declared safe, so by default it can
    only produce tensors and plain data. It checks that every tensor is within its memory.  It does
    not trust sizes either: members must not be compressed, so that together they are no larger than
    the file, and memory is allocated only if the file has enough bytes. `weights_only=False`
    switches to Python's unpickler.

Source of the interface: https://docs.pytorch.org/docs/stable/notes/serialization.html
"""

from __future__ import annotations

import io
import os
import pickle
import pickletools
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, BinaryIO

from ..frames import warn_user
from . import allowed, legacy
from . import archive as archives
from .pickling import Writer
from .reading import Reader
from .unpickling import Refused

__all__ = ["get_unsafe_globals_in_checkpoint", "load", "save"]

File = str | os.PathLike[str] | BinaryIO

#: Errors that a malformed file may cause.
DAMAGE = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, EOFError,
          MemoryError, RecursionError)

#: How a zip archive begins.
ZIP = b"PK\x03\x04"

UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
    "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, but it can result in arbitrary code execution. Do it only if you got the file "
    "from a trusted source.")
OPTIONS = (
    "This file can still be loaded, to do so you have two options, \x1b[1mdo those steps only if "
    f"you trust the source of the checkpoint\x1b[0m. \n\t(1) {UNSAFE}\n\t(2) Alternatively, to "
    "load with `weights_only=True` please check the recommended steps in the following error "
    "message.\n\tWeightsUnpickler error: ")
DOCS = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with "
    "weights_only https://pytorch.org/docs/stable/generated/torch.load.html.")


def save(obj: Any, f: File, pickle_module: Any = pickle, pickle_protocol: int = 2,
         _use_new_zipfile_serialization: bool = True,
         _disable_byteorder_record: bool = False) -> None:
    """Write `obj` to a path or to a file opened for writing bytes; `torch.load` can read it too.

    `obj` may be anything that Python can pickle: state dicts, whole modules, arrays, or your own
    objects. Pass `_use_new_zipfile_serialization=False` for the format of PyTorch before version
    1.6. Source: `torch.save`.

    >>> import io
    >>> from minigrad import load, save, tensor
    >>> file = io.BytesIO()
    >>> save({"weight": tensor([1.0, 2.0]), "step": 3}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'weight': tensor([1., 2.]), 'step': 3}
    """
    if pickle_module is not pickle:
        raise ValueError("save(): argument 'pickle_module' must be the module pickle, not "
                         f"{getattr(pickle_module, '__name__', pickle_module)}")
    if isinstance(f, (str, os.PathLike)):
        folder = os.path.dirname(os.path.abspath(f))
        if not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {os.path.dirname(f)} does not exist.")
    elif not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    writer = Writer(pickle_protocol, is_legacy=not _use_new_zipfile_serialization)
    program = writer.program(obj)
    for text in writer.warnings:
        warn_user(text, UserWarning)
    if _use_new_zipfile_serialization:
        archives.write(writer, program, f, not _disable_byteorder_record)
    else:
        with open(f, "wb") if isinstance(f, (str, os.PathLike)) else nullcontext(f) as file:
            legacy.write(writer, program, file)


def load(f: File, map_location: Any = None, pickle_module: Any = None, *,
         weights_only: bool | None = None, mmap: bool | None = None,
         **pickle_load_args: Any) -> Any:
    """Read what `save` or `torch.save` wrote.

    `map_location` determines where tensors go: a device, a dict that maps saved device names to
    others, or a function of a storage and a device name. By default, `load` reads only tensors,
    plain data and the classes passed to `add_safe_globals`, and raises `pickle.UnpicklingError` for
    everything else. `weights_only=False` reads whole modules and any other object, but **runs code
    from the file**, so use it only for files that you trust. Tensors of dtype bfloat16 become
    float32, with a warning. `mmap` has no effect. Raises `RuntimeError` for a damaged file. Source:
    `torch.load`.

    >>> import os, tempfile
    >>> from minigrad import nn
    >>> path = os.path.join(tempfile.mkdtemp(), "layer.pt")
    >>> save(nn.Linear(2, 1).state_dict(), path)
    >>> {name: tuple(value.shape) for name, value in load(path).items()}
    {'weight': (1, 2), 'bias': (1,)}
    """
    is_safe = pickle_module is None if weights_only is None else bool(weights_only)
    if is_safe and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    with opened(f) as file:
        check_not_empty(file)
        try:
            if is_safe:
                return guarded(file, map_location, allowed.by_name())
            return read(file, map_location, lambda reader, program: reader.freely(
                program, pickle_load_args))
        except zipfile.BadZipFile as error:
            raise RuntimeError("cannot load: the file is truncated, damaged or was not written by "
                               f"save ({error})") from error


def opened(f: File) -> Any:
    """Open a path; return a file as it is."""
    if isinstance(f, (str, os.PathLike)):
        return open(f, "rb")
    for name in ("seek", "tell", "read"):
        if not hasattr(f, name):
            raise AttributeError(
                f"'{type(f).__name__}' object has no attribute '{name}'. You can only torch.load "
                "from a file that is seekable. Please pre-load the data into a buffer like "
                "io.BytesIO and try to load from it instead.")
    return nullcontext(f)


def check_not_empty(file: BinaryIO) -> None:
    """Raise `EOFError` if a file is at its end."""
    if not file.read(1):
        raise EOFError("Ran out of input")
    file.seek(-1, os.SEEK_CUR)


def guarded(file: BinaryIO, map_location: Any, trusted: dict[str, Any]) -> Any:
    """Read a file that may contain only tensors, plain data and `trusted` classes."""
    try:
        return read(file, map_location, lambda reader, program: reader.safely(program, trusted))
    except Refused as error:
        text = str(error)
        how = OPTIONS if "was not an allowed global" in text else f"{UNSAFE}\n\n\n"
        raise pickle.UnpicklingError(f"Weights only load failed. {how}{text}{DOCS}") from None
    except NotImplementedError as error:
        raise RuntimeError(f"cannot load: {error}") from error
    except DAMAGE as error:
        raise RuntimeError(f"cannot load: the file is damaged ({type(error).__name__}: "
                           f"{error})") from error


def read(file: BinaryIO, map_location: Any, interpret: Callable[[Reader, BinaryIO], Any]) -> Any:
    """Read a file of either format; `interpret` reads the pickle in it."""
    start = file.tell()
    is_zip = file.read(len(ZIP)) == ZIP
    file.seek(start)
    if not is_zip:
        reader = legacy.LegacyReader(file, map_location)
        return reader.read(lambda program: interpret(reader, program))
    with zipfile.ZipFile(file) as archive:
        found = archives.ArchiveReader(archive, map_location)
        return interpret(found, found.program)


def get_unsafe_globals_in_checkpoint(f: File) -> list[str]:
    """Return the names in a file that `load` would refuse without `weights_only=False`.

    Source: `torch.serialization.get_unsafe_globals_in_checkpoint`.

    >>> import io
    >>> from minigrad import nn
    >>> file = io.BytesIO()
    >>> save(nn.ReLU(), file)
    >>> get_unsafe_globals_in_checkpoint(file)
    ['torch.nn.modules.activation.ReLU']
    """
    with opened(f) as file, zipfile.ZipFile(file) as archive:
        reader = archives.ArchiveReader(archive, None)
    names: dict[str, None] = {}
    texts: list[str] = []
    for opcode, argument, _ in pickletools.genops(io.BytesIO(reader.program.read())):
        if isinstance(argument, str) and opcode.name != "GLOBAL":
            texts.append(argument)
        elif opcode.name in ("GLOBAL", "STACK_GLOBAL"):
            module, name = str(argument).split(" ", 1) if argument else texts[-2:]
            try:
                reader.safe_name(module, name, allowed.by_name())
            except Refused:
                names[f"{module}.{name}"] = None
    return list(names)
