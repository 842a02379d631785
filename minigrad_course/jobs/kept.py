"""The reports of a class as they are stored: read one at a time, so memory stays flat."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ..content.stages import find_stage
from ..grading.report import ReadReports, Report
from ..grading.ungraded import NOT_GRADED, ungraded
from .class_list import ClassList
from .history import Entry, entry_of

__all__ = ["Kept"]


class Kept(ReadReports):
    """The reports of a class in the order of its list, read from `results.jsonl` when needed."""

    def __init__(self, file: Path, members: ClassList) -> None:
        """Find the last record of each member of the class."""
        self.members = members.members
        self.stages = [find_stage(key) for key in members.stages]
        last: dict[tuple[str, str], tuple[str, int]] = {}
        self._file = open(file, "rb")  # noqa: SIM115  # it stays open
        wanted = {member.key for member in self.members}
        place = 0
        for line in self._file:
            about = _about(line)
            if about is not None and about[0] in wanted:
                key, who, when = about
                for each in ((key, who), (key, "")):
                    if each not in last or last[each][0] <= when:
                        last[each] = when, place
            place += len(line)
        found = [last.get((each.key, each.who)) or last.get((each.key, ""))
                 for each in self.members]
        self._places = [None if each is None else each[1] for each in found]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __len__(self) -> int:
        return len(self.members)

    def read(self, index: int) -> Report:
        who = self.members[index].who
        entry = self.entry(index)
        if entry is None:
            return self._missing(who)
        return replace(entry.record.report, submission=who)

    def entry(self, index: int) -> Entry | None:
        """Return a member's last verdict, or `None` if there is no record."""
        place = self._places[index]
        if place is None:
            return None
        self._file.seek(place)
        return entry_of(self._file.readline())

    @cached_property
    def without(self) -> list[str]:
        """The labels of members without a record."""
        return [member.who for member, place in zip(self.members, self._places, strict=True)
                if place is None]

    @cached_property
    def most(self) -> dict[str, int]:
        """The maximum points of each exercise, with the weights of the class."""
        entries = (self.entry(index) for index in range(len(self)))
        graded = next((each.record.report for each in entries if each is not None), None)
        if graded is None:
            return {hole.id: hole.points for stage in self.stages for hole in stage.holes}
        return {hole.hole: hole.max_points for hole in graded.holes}

    def _missing(self, who: str) -> Report:
        why = f"{NOT_GRADED}: no part of the results has a record of it"
        return Report(who, tuple(ungraded(who, stage, why, "") for stage in self.stages))


def _about(line: bytes) -> tuple[str, str, str] | None:
    """Return the key, the label and the time of a line, or `None` if it is not a verdict."""
    if not line.endswith(b"\n"):
        return None
    try:
        read = json.loads(line)
        key, who, when = read["key"], read["who"], read["when"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (key, who, when) if all(isinstance(each, str) for each in (key, who, when)) else None
