"""The report on a submission after all its stages were graded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from .grade import Grade, HoleGrade

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """One submission's grades."""

    submission: str
    grades: tuple[Grade, ...]

    @property
    def points(self) -> int:
        """The points that were given."""
        return sum(each.points for each in self.grades)

    @property
    def max_points(self) -> int:
        """The points that there are."""
        return sum(each.max_points for each in self.grades)

    @property
    def holes(self) -> list[HoleGrade]:
        """All holes of all stages."""
        return [hole for each in self.grades for hole in each.holes]

    @property
    def notes(self) -> list[str]:
        """Notes on the whole submission, each once, such as the line of a syntax error."""
        return list(dict.fromkeys(note for each in self.grades for note in each.notes))

    def weighted(self, weights: dict[str, int]) -> Report:
        """Return the same report with other points for the holes in `weights`."""
        return replace(self, grades=tuple(
            replace(each, holes=tuple(_weighted(hole, weights) for hole in each.holes))
            for each in self.grades))

    def hinted(self, hints: dict[str, tuple[str, ...]]) -> Report:
        """Return the same report with hints, by hole, for what has no points."""
        return replace(self, grades=tuple(
            replace(each, holes=tuple(replace(hole, hints=hints.get(hole.hole, ()))
                                      if hole.reason else hole for hole in each.holes))
            for each in self.grades))

    def as_dict(self) -> dict[str, Any]:
        """Return it as what JSON holds."""
        return {"submission": self.submission, "points": self.points,
                "max_points": self.max_points,
                "grades": [asdict(each) | {"points": each.points, "max_points": each.max_points}
                           for each in self.grades]}

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> Report:
        """Return the report that `as_dict` gave; KeyError or TypeError for anything else."""
        return cls(read["submission"], tuple(_grade(each) for each in read["grades"]))


def _weighted(hole: HoleGrade, weights: dict[str, int]) -> HoleGrade:
    most = weights.get(hole.hole, hole.max_points)
    return replace(hole, max_points=most, points=most if not hole.reason else 0)


def _grade(read: dict[str, Any]) -> Grade:
    holes = tuple(
        HoleGrade(each["hole"], each["title"], each["points"], each["max_points"], each["reason"],
                  _pairs(each["failing"]), each["diagnosis"], tuple(each.get("hints", ())),
                  each.get("note", ""))
        for each in read["holes"])
    return Grade(read["submission"], read["stage"], holes, read["sandbox"], read["seed"],
                 tuple(read["notes"]))


def _pairs(read: Iterable[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((test, message) for test, message in read)
