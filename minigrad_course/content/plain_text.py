"""Read a file that a learner wrote: a plain file of UTF-8 text, and nothing else.

`minigrad run` and `minigrad grade` read files here, so that both take and refuse the same ones.

NOTE [The text that Python reads]
    Python decides by the first bytes of a file how to decode it: by a byte order mark, or by a
    comment in one of the first two lines (PEP 263).  In an encoding such as `unicode_escape` or
    UTF-7, another comment can be code, so the text that we check would differ from the code that
    runs.  So `decoded` applies Python's own rule to the bytes, and refuses everything except UTF-8.
    A text that we put together ourselves may begin with lines that were further down in the
    learner's file.  `encoded` therefore makes sure that Python reads every text unchanged.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import stat
import sys
import tokenize
from pathlib import Path

__all__ = ["Missing", "Refused", "decoded", "encoded", "lines_of", "read_text", "refusal"]

#: More text than any answer needs.
MAX_BYTES = 256 * 1024
#: How a file declares its encoding (PEP 263).
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
#: How a ZIP archive begins, and so a document of an office program.
_PACKED = b"PK\x03\x04"
#: Byte order marks of encodings that Python does not read; UTF-32 begins like UTF-16.
_MARKS = ((codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"),
          (codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"))


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
    return decoded(data, inside)


def decoded(data: bytes, inside: Path) -> str:
    """Return the text that Python reads from a file's bytes; raise Refused if it isn't UTF-8.

    See NOTE [The text that Python reads].

    >>> decoded(b"\\xef\\xbb\\xbfx = 1", Path("a.py"))
    'x = 1'
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            raise Refused(f"{inside} is {name}; save it as UTF-8")
    if data.startswith(_PACKED):
        raise Refused(f"{inside} is an archive or an office document; hand in the .py file itself")
    if b"\0" in data:
        raise Refused(f"{inside} contains null bytes, so it is not text")
    if (declared := _other_encoding(data)) is not None:
        raise Refused(f"{inside} declares the encoding {declared}; hand in UTF-8, without that "
                      "line")
    if data.startswith(2 * codecs.BOM_UTF8):
        raise Refused(f"{inside} begins with two byte order marks; save it as UTF-8 without them")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{inside} is not UTF-8: {error.reason} at byte {error.start}") from None


def _other_encoding(data: bytes) -> str | None:
    """Return the encoding that a file declares, or `None` if Python reads the file as UTF-8."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # as Python does before it looks
    try:
        found, _ = tokenize.detect_encoding(io.BytesIO(lines).readline)
        if codecs.lookup(found).name in ("utf-8", "utf-8-sig"):
            return None
    except (SyntaxError, LookupError):  # unknown, or it contradicts the byte order mark
        pass
    cookies = map(_COOKIE.match, lines.removeprefix(codecs.BOM_UTF8).split(b"\n")[:2])
    return next((cookie[1].decode() for cookie in cookies if cookie), None)


def encoded(text: str) -> bytes:
    """Return the bytes of a file from which Python reads exactly this text.

    A comment that would declare another encoding is changed, because Python would obey it.

    >>> encoded("# coding: utf-7")
    b'# c0ding: utf-7'
    """
    data = text.encode()
    if data.startswith(codecs.BOM_UTF8):
        data = codecs.BOM_UTF8 + data  # Python drops the first one
    if _other_encoding(data) is None:
        return data
    first, end, second, *rest = [*re.split(rb"(\r\n|\r|\n)", data, maxsplit=2), b"", b""]
    first, second = (each.replace(b"coding", b"c0ding") if _COOKIE.match(each) else each
                     for each in (first, second))
    return b"".join((first, end, second, *rest))


def lines_of(text: str) -> list[str]:
    """Return a text's lines as Python counts them, without line ends.

    `str.splitlines` also splits at other characters, such as form feeds.

    >>> lines_of("a\\x0cb\\r\\nc\\n")
    ['a\\x0cb', 'c']
    """
    found = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return found if found[-1] else found[:-1]


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
