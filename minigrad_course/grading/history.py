"""The history of verdicts, oldest first: `results.jsonl`, to which lines are only appended.

NOTE [Going on]
    Each report is one line, written once it is complete, with a key of everything that it depends
    on: the submission's path and content, the stages, the weights and the seed.  A resumed run
    reuses the last report with the same key, and ignores a last line that was cut off.  A regrade
    keeps the old lines and appends new ones with its reason; if it is interrupted, it resumes after
    the lines with the same reason.
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
    """One verdict, with the time and the reason."""

    mark: str
    report: Report
    reason: str  # "" unless it is a regrade
    when: str

    @property
    def path(self) -> str:
        """The submission's path when it was graded."""
        return self.mark.rpartition(" ")[0]


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
            lines = self.file.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return
        except OSError as error:
            raise CourseError(f"cannot read {self.file}: {error.strerror}") from None
        for line in lines:
            try:
                read = json.loads(line)
                yield Entry(read["mark"], Report.from_dict(read["report"]), read.get("reason", ""),
                            read.get("when", ""))
            except (ValueError, KeyError, TypeError):
                continue  # a line that was cut off

    def known(self, again: Again | None = None) -> dict[str, Report]:
        """Return the last verdict for each key, except verdicts that still need a regrade."""
        return {entry.mark: entry.report for entry in self.entries()
                if again is None or not again.wants(Path(entry.path))
                or entry.reason == again.reason}

    def add(self, mark: str, report: Report, reason: str = "") -> None:
        """Append a verdict to the file."""
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
        """Return the verdicts before and after for each submission that was regraded."""
        last: dict[str, Entry] = {}
        found: dict[str, tuple[Entry, Entry]] = {}
        for entry in self.entries():
            before = last.get(entry.path)
            if entry.reason == reason and before is not None and before.reason != reason:
                found[entry.path] = (before, entry)
            last[entry.path] = entry
        return list(found.values())
