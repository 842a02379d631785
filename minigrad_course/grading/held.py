"""How much memory a run holds: its process and all that came of it, taken together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["held_by"]


class _Process(NamedTuple):
    number: int
    parent: int
    session: int


def held_by(process: int, user: int | None = None) -> int:
    """Return the bytes that a process and its descendants hold, files that are mapped left out.

    Whoever is in the process's session or is run by `user` counts as well: a process whose parent
    has ended is nobody's descendant any more.  0 where there is no /proc, as on macOS.
    """
    ours: set[int] = {process}
    total = 0
    for each in sorted(_processes()):  # a child has a higher number, until they begin anew
        if each.number in ours or each.parent in ours or each.session == process or (
                user is not None and _user(each.number) == user):
            ours.add(each.number)
            total += _held(each.number)
    return total


def _processes() -> Iterator[_Process]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # the name, in brackets, may hold anything
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
    return total
