"""A record: the result of a job, as JSON whose every part is checked when it is read."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from ..grading.grade import Grade, HoleGrade
from ..grading.report import Report

__all__ = ["MOST", "Record", "bounded"]

#: The maximum number of characters in one text of a record, and of notes or findings.
TEXT, ITEMS = 4000, 100
#: The maximum size of a record's line in bytes; what `bounded` leaves is far smaller.
MOST = 8 << 20


@dataclass(frozen=True)
class Record:
    """The verdict on a submission, and what a person should look at."""

    key: str
    report: Report
    look: tuple[str, ...] = ()  # signs of copying, and points for empty bodies

    def as_dict(self) -> dict[str, Any]:
        """Return the record as a dict for JSON."""
        return {"key": self.key, "report": self.report.as_dict(), "look": list(self.look)}

    def as_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.as_dict())

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> Record:
        """Rebuild a record; raise ValueError, KeyError or TypeError if it is not one."""
        if not isinstance(read, dict):
            raise TypeError(f"a record must be an object, not {type(read).__name__}")
        look = read.get("look", [])
        if not isinstance(read["key"], str) or not all(isinstance(each, str) for each in look):
            raise ValueError("a record's key and findings must be text")
        return cls(read["key"], bounded(Report.from_dict(read["report"])),
                   tuple(each[:TEXT] for each in look[:ITEMS]))

    @classmethod
    def from_json(cls, text: str | bytes) -> Record:
        """Rebuild a record from `as_json`; raise ValueError, KeyError or TypeError."""
        if len(text) > MOST:
            raise ValueError(f"a record has {len(text)} bytes; the limit is {MOST}")
        return cls.from_dict(json.loads(text))


def bounded(report: Report) -> Report:
    """Return a report whose texts are short, so that writing it takes a bounded time."""
    return replace(report, submission=report.submission[:TEXT], grades=tuple(
        _grade(each) for each in report.grades))


def _grade(grade: Grade) -> Grade:
    return replace(grade, submission=grade.submission[:TEXT],
                   notes=tuple(each[:TEXT] for each in grade.notes[:ITEMS]),
                   holes=tuple(_hole(each) for each in grade.holes))


def _hole(hole: HoleGrade) -> HoleGrade:
    if type(hole.points) is not int or type(hole.max_points) is not int:
        raise TypeError("points must be whole numbers")
    return replace(hole, reason=hole.reason[:TEXT], diagnosis=hole.diagnosis[:TEXT],
                   note=hole.note[:TEXT],
                   failing=tuple((test[:TEXT], message[:TEXT])
                                 for test, message in hole.failing[:ITEMS]))
