"""Every verdict that was given, oldest first: `results.jsonl`, which is only ever added to.

NOTE [Going on]
    Each report is one line, written whole when it is known, under a mark of all that it depends on:
    the submission's path and content, the stages, the weights and the seed.  A run that goes on
    takes over what has its mark there, the last of several; a last line that was cut off is no
    line.  A regrade leaves the old lines where they are and adds new ones with its reason, and one
    that was ended goes on after those with the same reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from minigrad import __version__

from ..content.stages import CourseError
from .report import Report

__all__ = ["Again", "Entry", "History"]


@dataclass(frozen=True)
class Entry:
    """One verdict, and when and why it was given."""

    mark: str
    report: Report
    reason: str  # "" where it was no regrade
    when: str

    @property
    def path(self) -> str:
        """The submission's path when it was graded."""
        return self.mark.rpartition(" ")[0]


@dataclass(frozen=True)
class Again:
    """Submissions to grade again although their verdict is known, and the reason."""

    names: frozenset[str]  # of submissions; "all" for every one
    reason: str

    def wants(self, path: Path) -> bool:
        """Tell whether a submission is among them."""
        return "all" in self.names or path.name in self.names or str(path) in self.names


@dataclass(frozen=True)
class History:
    """The verdicts in a file."""

    file: Path

    def entries(self) -> Iterator[Entry]:
        """Yield all verdicts, oldest first; none where there is no file yet."""
        try:
            lines = self.file.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return
        except OSError as error:
            raise CourseError(f"{self.file} cannot be read: {error.strerror}") from None
        for line in lines:
            try:
                read = json.loads(line)
                yield Entry(read["mark"], Report.from_dict(read["report"]), read.get("reason", ""),
                            read.get("when", ""))
            except (ValueError, KeyError, TypeError):
                continue  # the rest of a line that was cut off

    def known(self, again: Again | None = None) -> dict[str, Report]:
        """Return the last verdict for each mark, without those still to be graded again."""
        return {entry.mark: entry.report for entry in self.entries()
                if again is None or not again.wants(Path(entry.path))
                or entry.reason == again.reason}

    def add(self, mark: str, report: Report, reason: str = "") -> None:
        """Write down a verdict."""
        line = json.dumps({
            "mark": mark, "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
            "minigrad": __version__, "reason": reason, "report": report.as_dict()}) + "\n"
        with open(self.file, "ab") as file:
            if file.tell() and not self._ends_a_line():
                line = "\n" + line
            file.write(line.encode())

    def _ends_a_line(self) -> bool:
        with open(self.file, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def changes(self, reason: str) -> list[tuple[Entry, Entry]]:
        """Return for each submission that was regraded the verdict before and the one after."""
        last: dict[str, Entry] = {}
        found: dict[str, tuple[Entry, Entry]] = {}
        for entry in self.entries():
            before = last.get(entry.path)
            if entry.reason == reason and before is not None and before.reason != reason:
                found[entry.path] = (before, entry)
            last[entry.path] = entry
        return list(found.values())
