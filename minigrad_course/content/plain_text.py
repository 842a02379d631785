"""Read a file that a learner wrote: a plain file of UTF-8 text, and nothing else.

`minigrad run` and `minigrad grade` read files here, so that both take and refuse the same ones.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from pathlib import Path

__all__ = ["Missing", "Refused", "read_text", "refusal"]

#: More text than any answer needs.
MAX_BYTES = 256 * 1024
#: How a file declares its encoding (PEP 263); in one other than UTF-8, comments can be code.
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF_8 = (b"utf-8", b"utf8", b"utf-8-sig")


class Refused(Exception):
    """A file that is not accepted; the student sees the message."""


class Missing(Refused):
    """A file that does not exist."""


def refusal(file: Path) -> str:
    """Return why a file is refused, in a sentence; "" if it is taken."""
    try:
        read_text(file.parent, Path(file.name))
    except Refused as refused:
        return str(refused)
    return ""


def read_text(folder: Path, inside: Path) -> str:
    """Return the text of the file `inside` a folder, without following any link.

    Raises Refused if it is missing, a link, not a plain file, too large or not UTF-8 text.
    """
    handle = (opened_by_path if sys.platform == "win32" else opened)(folder, inside)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise Refused(f"{inside} is not a plain file")
        if about.st_size > MAX_BYTES:
            raise Refused(f"{inside} has {about.st_size} bytes; the limit is {MAX_BYTES}")
        data = b""
        while chunk := os.read(handle, MAX_BYTES + 1 - len(data)):
            data += chunk
    finally:
        os.close(handle)
    if len(data) > MAX_BYTES:
        raise Refused(f"{inside} grew while it was being read")
    if b"\0" in data:
        raise Refused(f"{inside} contains null bytes, so it is not text")
    for line in re.split(rb"\r\n|\r|\n", data)[:2]:
        if (cookie := _COOKIE.match(line)) and cookie[1].lower().replace(b"_", b"-") not in _UTF_8:
            raise Refused(f"{inside} declares the encoding {cookie[1].decode()}; hand in UTF-8, "
                          "without that line")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{inside} is not UTF-8: {error.reason} at byte {error.start}") from None


def opened(folder: Path, inside: Path) -> int:
    """Open a file step by step, so that no part of its path can be, or become, a link."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for part in inside.parts:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        if part != inside.parts[-1]:
            flags |= os.O_DIRECTORY
        try:
            step = os.open(part, flags, dir_fd=handle)
        except OSError as error:
            if os.path.islink(folder / inside):
                raise Refused(f"{inside} is a link; hand in the file itself") from None
            error_type = Missing if error.errno == errno.ENOENT else Refused
            raise error_type(f"{inside} {_why(error)}") from None
        finally:
            os.close(handle)
        handle = step
    return handle


def opened_by_path(folder: Path, inside: Path) -> int:
    """Open a file on systems that cannot open folders: check each part of its path first."""
    path = folder
    try:
        for part in inside.parts:
            path = path / part
            about = os.lstat(path)
            if stat.S_ISLNK(about.st_mode) or _is_junction(about):
                raise Refused(f"{inside} is a link; hand in the file itself")
        if not stat.S_ISREG(about.st_mode):
            raise Refused(f"{inside} is not a plain file")
        return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        error_type = Missing if error.errno == errno.ENOENT else Refused
        raise error_type(f"{inside} {_why(error)}") from None


def _why(error: OSError) -> str:
    return "is missing" if error.errno == errno.ENOENT else \
        f"is not readable: {error.strerror}"


def _is_junction(about: os.stat_result) -> bool:
    """Return whether it is a junction, Windows's other kind of link."""
    return sys.platform == "win32" and about.st_reparse_tag != 0
