"""The history of verdicts, oldest first: `results.jsonl`, to which lines are only appended.

NOTE [Going on]
    Each record is one line, written once it is complete, with its key (see NOTE [Stale records] in
    ground.py) and the submission's label.  A resumed run reuses the last record with the same key,
    and ignores a last line that was cut off.  A regrade keeps the old lines and appends new ones
    with its reason; if it is interrupted, it resumes after the lines with the same reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from minigrad import __version__

from ..content.stages import CourseError
from .record import Record

__all__ = ["Again", "Entry", "History", "entry_of", "now"]


@dataclass(frozen=True)
class Entry:
    """One verdict, with the submission's label, the time and the reason."""

    who: str
    record: Record
    reason: str  # "" unless it is a regrade
    when: str


@dataclass(frozen=True)
class Again:
    """Submissions to grade again although they have a verdict, and the reason."""

    names: frozenset[str]  # of submissions; "all" for all of them
    reason: str

    def wants(self, path: Path) -> bool:
        """Return whether to grade a submission again."""
        return "all" in self.names or path.name in self.names or str(path) in self.names


@dataclass(frozen=True)
class History:
    """The verdicts in a file."""

    file: Path

    def entries(self) -> Iterator[Entry]:
        """Yield all verdicts, oldest first; a missing file counts as empty."""
        try:
            with open(self.file, "rb") as file:
                for line in file:
                    if line.endswith(b"\n") and (entry := entry_of(line)) is not None:
                        yield entry
        except FileNotFoundError:
            return
        except OSError as error:
            raise CourseError(f"cannot read {self.file}: {error.strerror}") from None

    def known(self) -> dict[tuple[str, str], Entry]:
        """Return the last verdict for each key and label, and for each key with the label ""."""
        found: dict[tuple[str, str], Entry] = {}
        for entry in self.entries():
            found[entry.record.key, entry.who] = found[entry.record.key, ""] = entry
        return found

    def add(self, who: str, record: Record, reason: str = "") -> None:
        """Append a verdict to the file."""
        line = json.dumps({
            "who": who, "when": now(),
            "minigrad": __version__, "reason": reason, **record.as_dict()}) + "\n"
        with open(self.file, "ab") as file:
            if file.tell() and not self._ends_a_line():
                line = "\n" + line
            file.write(line.encode())

    def _ends_a_line(self) -> bool:
        with open(self.file, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def changes(self, reason: str) -> list[tuple[Entry, Entry]]:
        """Return the verdicts before and after for each submission that was regraded."""
        last: dict[str, Entry] = {}
        found: dict[str, tuple[Entry, Entry]] = {}
        for entry in self.entries():
            before = last.get(entry.who)
            if entry.reason == reason and before is not None and before.reason != reason:
                found[entry.who] = (before, entry)
            last[entry.who] = entry
        return list(found.values())


def now() -> str:
    """Return the time as it is written; the order of such texts is the order of time."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def entry_of(line: bytes) -> Entry | None:
    """Return the verdict in a line, or `None` if the line was cut off or is not a verdict.

    Earlier versions wrote a path in the place of the key; such a verdict is never used again, but
    it is still part of the history.
    """
    try:
        read: dict[str, Any] = json.loads(line)
        who, reason, when = (read.get(name, "") for name in ("who", "reason", "when"))
        record = Record.from_dict({"key": read.get("mark", ""), **read})
        return Entry(str(who) or record.report.submission, record, str(reason), str(when))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
