"""`overrides.csv`: points and comments that a person decided, beside the results of a class.

NOTE [A person's decision]
    The records in `results.jsonl` contain only what minigrad found.  A decision is
    added whenever reports are written, so it survives a regrade, and it stays visible beside
    minigrad's own verdict: in the tables, and in the student's feedback.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..content.stages import CourseError
from .csv_file import read_rows
from .grade import HoleGrade
from .printable import one_line
from .report import ReadReports, Report

__all__ = ["OVERRIDES", "Decided", "Override", "assigned", "read_overrides"]

OVERRIDES = "overrides.csv"
COLUMNS = ("submission", "exercise", "points", "comment")


@dataclass(frozen=True)
class Override:
    """A line of the file: points for an exercise, a comment, or both."""

    place: str  # the file and the line, for errors
    submission: str  # its name in the tables, its file name, or its owner's id
    hole: str  # "" for a comment on the whole submission
    points: int | None
    comment: str


def read_overrides(folder: Path, most: Mapping[str, int]) -> list[Override]:
    """Return the decisions in a folder of results; [] if it has no such file.

    `most` gives the maximum points of each exercise.  Raises CourseError naming the line for an
    unknown exercise, and for points that are not a whole number from 0 to the maximum.
    """
    file = folder / OVERRIDES
    if not file.exists():
        return []
    rows = read_rows(file)
    head = [each.casefold() for each in next(rows, (1, [""]))[1]]
    if sorted(head) != sorted(COLUMNS):
        raise CourseError(f"{file}: the first line must be {','.join(COLUMNS)}, but it is "
                          f"{','.join(head) or 'empty'}")
    found: list[Override] = []
    for number, cells in rows:
        place = f"{file}, line {number}"
        if len(cells) != len(COLUMNS):
            raise CourseError(f"{place}: expected {len(COLUMNS)} cells, but there are {len(cells)};"
                              " put a comment that contains a comma in quotes")
        row = dict(zip(head, cells, strict=True))
        found.append(_override(place, row, most))
    for (name, hole), count in Counter((each.submission, each.hole) for each in found).items():
        if hole and count > 1:
            last = [each for each in found if (each.submission, each.hole) == (name, hole)][-1]
            raise CourseError(f"{last.place}: {name!r} has another line for {hole}; keep one")
    return found


def _override(place: str, row: Mapping[str, str], most: Mapping[str, int]) -> Override:
    hole, points = row["exercise"], row["points"]
    if not row["submission"]:
        raise CourseError(f"{place}: the submission is missing")
    if hole and hole not in most:
        raise CourseError(f"{place}: there is no exercise {hole!r}; the exercises are "
                          f"{', '.join(most)}")
    if points and not hole:
        raise CourseError(f"{place}: points need an exercise, such as {next(iter(most), '07.1')}")
    if not points and not row["comment"]:
        raise CourseError(f"{place}: points or a comment must be given")
    if points and not (points.isdecimal() and points.isascii() and int(points) <= most[hole]):
        raise CourseError(f"{place}: points for {hole} must be a whole number from 0 to "
                          f"{most[hole]}, not {points!r}")
    return Override(place, row["submission"], hole, int(points) if points else None,
                    row["comment"])


def assigned(overrides: Iterable[Override], names: Sequence[str], places: Sequence[str],
             owners: Mapping[int, str]) -> dict[int, list[Override]]:
    """Return the decisions on each submission, by its index.

    `names` are the submissions' names in the tables, `places` their paths, `owners` the ids of
    their owners.  Raises CourseError for a name that fits no submission, or several.
    """
    known: dict[str, set[int]] = {}
    for index, (name, place) in enumerate(zip(names, places, strict=True)):
        for spelling in {name, one_line(name), Path(place).name, owners.get(index, name)}:
            known.setdefault(spelling, set()).add(index)
    found: dict[int, list[Override]] = {}
    for each in overrides:
        indices = known.get(each.submission, set())
        if not indices:
            near = difflib.get_close_matches(each.submission, known, 1)
            raise CourseError(f"{each.place}: there is no submission {each.submission!r}"
                              + (f"; did you mean {near[0]!r}?" if near else ""))
        if len(indices) > 1:
            several = ", ".join(one_line(names[index]) for index in sorted(indices)[:5])
            raise CourseError(f"{each.place}: {each.submission!r} could be {several}; use one of "
                              "these names")
        found.setdefault(min(indices), []).append(each)
    for of_one in found.values():
        for hole, count in Counter(each.hole for each in of_one).items():
            if hole and count > 1:
                raise CourseError(f"{of_one[-1].place}: the submission has another line for "
                                  f"{hole}; keep one")
    return found


class Decided(ReadReports):
    """Reports with a person's decisions; reads one report at a time."""

    def __init__(self, reports: Sequence[Report], decisions: Mapping[int, Sequence[Override]]
                 ) -> None:
        """Wrap reports; `decisions` are by index."""
        self.reports, self.decisions = reports, decisions

    def __len__(self) -> int:
        return len(self.reports)

    def read(self, index: int) -> Report:
        return _decided(self.reports[index], self.decisions.get(index, ()))


def _decided(report: Report, decisions: Sequence[Override]) -> Report:
    by_hole = {each.hole: each for each in decisions if each.hole}
    return replace(report, comments=tuple(each.comment for each in decisions if not each.hole),
                   grades=tuple(replace(grade, holes=tuple(
                       _with(hole, by_hole.get(hole.hole)) for hole in grade.holes))
                       for grade in report.grades))


def _with(hole: HoleGrade, override: Override | None) -> HoleGrade:
    if override is None:
        return hole
    points = hole.points if override.points is None else override.points
    told = "" if override.points is None else f"{points} points instead of {hole.points}"
    return replace(hole, points=points, decision=": ".join(filter(None, (told, override.comment))))
