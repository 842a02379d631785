"""How much memory and file space a run holds: its process and all descendants together."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["held_by", "stored_in", "tasks_of"]

#: Bytes that an empty file or folder counts as.
ENTRY = 4096


class _Process(NamedTuple):
    number: int
    parent: int
    session: int


def held_by(process: int, user: int | None = None) -> int:
    """Return how many bytes a process and its descendants hold, not counting mapped files.

    Deleted files that are still open count as well.  So do processes of the same session and those
    of `user`, because a process whose parent has ended is no longer a descendant.  Returns 0 if
    there is no /proc, as on macOS.
    """
    ours: set[int] = {process}
    total = 0
    for each in sorted(_processes()):  # a child has a higher number, until the numbers wrap around
        if each.number in ours or each.parent in ours or each.session == process or (
                user is not None and _user(each.number) == user):
            ours.add(each.number)
            total += _held(each.number)
    return total


def _processes() -> Iterator[_Process]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # the process name, in parentheses, may contain anything
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            yield _Process(int(path.parent.name), int(fields[1]), int(fields[3]))


def _user(process: int) -> int | None:
    try:
        return Path(f"/proc/{process}").stat().st_uid
    except OSError:
        return None


def _held(process: int) -> int:
    total = 0
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text(errors="replace").splitlines():
            name, _, amount = line.partition(":")
            if name in ("RssAnon", "RssShmem"):
                total += int(amount.split()[0]) << 10
    with contextlib.suppress(OSError):  # the process may end in the meantime
        for file in list(Path(f"/proc/{process}/fd").iterdir()):
            with contextlib.suppress(OSError):
                about = file.stat()
                if stat.S_ISREG(about.st_mode) and not about.st_nlink:
                    total += about.st_blocks * 512
    return total


def stored_in(folder: str, most: int) -> int:
    """Return the bytes in a folder's files; stop counting once they exceed `most`."""
    total, left = 0, [folder]
    while left and total <= most:
        with contextlib.suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                total += ENTRY
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
    return total


def tasks_of(user: int) -> int:
    """Return how many processes and threads a user has: Linux limits their sum."""
    found = 0
    for each in _processes():
        if _user(each.number) == user:
            with contextlib.suppress(OSError):
                found += len(os.listdir(f"/proc/{each.number}/task"))
    return found
