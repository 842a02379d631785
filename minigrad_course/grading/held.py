"""How much memory, file space and computing a run takes: its process and all descendants."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Computing", "held_by", "stored_in", "tasks_of"]

#: Bytes that an empty file or folder counts as.
ENTRY = 4096
#: More processes that compute at the same time, or more cores in use, get the lowest priority.
COMPUTING, CORES = 2, 1.5
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class _Process(NamedTuple):
    number: int
    parent: int
    session: int
    is_running: bool
    seconds: float  # of computing, with its children that have ended


def held_by(process: int, user: int | None = None) -> int:
    """Return how many bytes a process and its descendants hold, not counting mapped files.

    Deleted files that are still open count as well.  So do processes of the same session and those
    of `user`, because a process whose parent has ended is no longer a descendant.  Returns 0 if
    there is no /proc, as on macOS.
    """
    return sum(_held(each.number) for each in _of_run(process, user))


class Computing:
    """Watches how much a run computes, so that it doesn't take the time of other runs.

    Linux divides the cores among all processes that compute.  A run with sixty of them would leave
    so little to the others that these would exceed their time limits.
    """

    def __init__(self) -> None:
        self.before, self.seconds = time.monotonic(), 0.0

    def look(self, process: int, user: int | None = None) -> None:
        """Give a run that computes in parallel the lowest priority; it can't raise it again."""
        ours, now = list(_of_run(process, user)), time.monotonic()
        seconds = sum(each.seconds for each in ours)
        used = (seconds - self.seconds) / max(now - self.before, 0.01)
        self.before, self.seconds = now, seconds
        if sum(each.is_running for each in ours) > COMPUTING or used > CORES:
            for each in ours:
                with contextlib.suppress(OSError):  # the process may end in the meantime
                    for task in os.listdir(f"/proc/{each.number}/task"):
                        os.setpriority(os.PRIO_PROCESS, int(task), 19)


def _of_run(process: int, user: int | None) -> Iterator[_Process]:
    """Yield the processes of a run."""
    ours: set[int] = {process}
    for each in sorted(_processes()):  # a child has a higher number, until the numbers wrap around
        if each.number in ours or each.parent in ours or each.session == process or (
                user is not None and _user(each.number) == user):
            ours.add(each.number)
            yield each


def _processes() -> Iterator[_Process]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # the process name, in parentheses, may contain anything
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            yield _Process(int(path.parent.name), int(fields[1]), int(fields[3]),
                           fields[0] == "R", sum(map(int, fields[11:15])) / _TICKS)


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
