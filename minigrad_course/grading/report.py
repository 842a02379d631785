"""The report on a submission, once all its stages are graded."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, overload

from .grade import Grade, HoleGrade

__all__ = ["ReadReports", "Report", "as_grade"]


@dataclass(frozen=True)
class Report:
    """The grades of one submission."""

    submission: str
    grades: tuple[Grade, ...]
    comments: tuple[str, ...] = ()  # of a person, see overrides.py

    @property
    def points(self) -> int:
        """The points earned."""
        return sum(each.points for each in self.grades)

    @property
    def max_points(self) -> int:
        """The maximum score."""
        return sum(each.max_points for each in self.grades)

    @property
    def holes(self) -> list[HoleGrade]:
        """All exercises of all stages."""
        return [hole for each in self.grades for hole in each.holes]

    @property
    def notes(self) -> list[str]:
        """Notes on the whole submission, without duplicates, such as the line of a syntax error."""
        return list(dict.fromkeys(note for each in self.grades for note in each.notes))

    @property
    def said(self) -> list[str]:
        """A person's comments on the whole submission, each as a sentence."""
        return [f"A person commented: {comment}" for comment in self.comments]

    @property
    def decisions(self) -> list[str]:
        """Everything that a person decided about the submission."""
        return [*(f"{hole.hole}: {hole.decision}" for hole in self.holes if hole.decision),
                *self.comments]

    def weighted(self, weights: dict[str, int]) -> Report:
        """Return the same report with other points for the exercises in `weights`."""
        return replace(self, grades=tuple(
            replace(each, holes=tuple(_weighted(hole, weights) for hole in each.holes))
            for each in self.grades))

    def hinted(self, hints: dict[str, tuple[str, ...]]) -> Report:
        """Return the same report with hints for the exercises that earned no points."""
        return replace(self, grades=tuple(
            replace(each, holes=tuple(replace(hole, hints=hints.get(hole.hole, ()))
                                      if hole.reason else hole for hole in each.holes))
            for each in self.grades))

    def as_dict(self) -> dict[str, Any]:
        """Return the report as a dict for JSON."""
        return {"submission": self.submission, "points": self.points,
                "max_points": self.max_points,
                **({"comments": list(self.comments)} if self.comments else {}),
                "grades": [asdict(each) | {"points": each.points, "max_points": each.max_points}
                           for each in self.grades]}

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> Report:
        """Rebuild a report from `as_dict`; raise KeyError or TypeError for anything else."""
        return cls(read["submission"], tuple(as_grade(each) for each in read["grades"]))


def _weighted(hole: HoleGrade, weights: dict[str, int]) -> HoleGrade:
    most = weights.get(hole.hole, hole.max_points)
    return replace(hole, max_points=most, points=most if not hole.reason else 0)


class ReadReports(Sequence[Report]):
    """Reports that are read one at a time, each whenever it is needed."""

    @abstractmethod
    def read(self, index: int) -> Report:
        """Return the report with a number."""

    @overload
    def __getitem__(self, index: int) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> list[Report]: ...

    def __getitem__(self, index: int | slice) -> Report | list[Report]:
        if isinstance(index, slice):
            return [self.read(i) for i in range(*index.indices(len(self)))]
        return self.read(index)


def as_grade(read: dict[str, Any]) -> Grade:
    """Rebuild a grade from its fields; raise KeyError or TypeError for anything else."""
    holes = tuple(
        HoleGrade(each["hole"], each["title"], each["points"], each["max_points"], each["reason"],
                  _pairs(each["failing"]), each["diagnosis"], tuple(each.get("hints", ())),
                  each.get("note", ""))
        for each in read["holes"])
    return Grade(read["submission"], read["stage"], holes, read["sandbox"], read["seed"],
                 tuple(read["notes"]))


def _pairs(read: Iterable[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((test, message) for test, message in read)
