"""Write reports for other programs: JSON, JUnit, Gradescope, Classroom 50, CSV and HTML."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from ..content.stages import CourseError
from .grade import NOT_PYTHON, HoleGrade
from .printable import one_line, printable
from .report import Report

__all__ = ["FOR_ONE", "WRITERS", "Columns", "as_csv", "explained", "html_parts", "unformula"]


def explained(hole: HoleGrade) -> str:
    """Return in plain text why an exercise got its points."""
    decided = [f"A person decided: {hole.decision}"] if hole.decision else []
    if not hole.reason:
        return "\n".join([*decided, hole.note or "solved"])
    lines = [*decided, *([hole.diagnosis] if hole.diagnosis else []), hole.reason]
    if hole.reason != NOT_PYTHON:  # the notes already give the line
        lines += [f"{test.rpartition('::')[2]}: {printable(message)}"
                  for test, message in hole.failing[:3]]
    lines += [f"hint: {hint}" for hint in hole.hints]
    return "\n".join(lines)


def as_json(reports: Sequence[Report]) -> str:
    """Return everything that is known as a JSON list of submissions."""
    return json.dumps([each.as_dict() for each in reports], indent=1) + "\n"


def as_junit(reports: Sequence[Report]) -> str:
    """Return a test suite for each submission, with a test case for each exercise."""
    root = ElementTree.Element("testsuites")
    for report in reports:
        failed = sum(bool(hole.reason) for hole in report.holes)
        suite = ElementTree.SubElement(root, "testsuite", name=one_line(report.submission),
                                       tests=str(len(report.holes)), failures=str(failed),
                                       errors="0", skipped="0")
        for hole in report.holes:
            case = ElementTree.SubElement(suite, "testcase", classname=f"stage {hole.hole[:2]}",
                                          name=f"{hole.hole} {hole.title}")
            if hole.reason:
                failure = ElementTree.SubElement(case, "failure", message=printable(hole.reason))
                failure.text = explained(hole)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def gradescope(report: Report) -> dict[str, Any]:
    """Return what Gradescope reads as results.json and `otter run` writes, a test per exercise.

    Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/
    """
    return {
        **({"output": printable("\n".join(report.notes))} if report.notes else {}),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {"score": hole.points, "max_score": hole.max_points, "number": hole.hole,
             "name": f"{hole.hole} {hole.title}", "output": explained(hole),
             "visibility": "visible", "status": "failed" if hole.reason else "passed"}
            for hole in report.holes],
    }


def classroom50(report: Report, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what Classroom 50 reads as result.json; its environment variables name the student.

    Raises CourseError if a variable that its runner sets is missing.

    Source: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding
    """
    def given(name: str) -> str:
        if not environment.get(name):
            raise CourseError(f"Classroom 50's runner sets {name}, but it is not set here")
        return environment[name]

    notes = "".join(f"{printable(note)}\n" for note in report.notes)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "schema": "classroom50/result/v1",
        "classroom": given("CLASSROOM"),
        "assignment": given("ASSIGNMENT"),
        "submission": given("SUBMISSION_TAG"),
        "commit": given("COMMIT_URL"),
        "release": given("RELEASE_URL"),
        "review": environment.get("REVIEW_URL") or given("COMMIT_URL"),
        "datetime": now,
        "graded_at": now,
        "score": report.points,
        "max-score": report.max_points,
        "tests": [
            {"test-name": f"{hole.hole} {hole.title}", "passed": not hole.reason,
             "score": hole.points, "max-score": hole.max_points,
             "output": ("" if index else notes) + explained(hole)}
            for index, hole in enumerate(report.holes)],
    }


def nbgrader(report: Report) -> float:
    """Return what a graded cell returns for partial credit: one finite float.

    Source: https://nbgrader.readthedocs.io/en/stable/user_guide/creating_and_grading_assignments.html
    """
    points = float(report.points)
    return min(max(points, 0.0), float(report.max_points)) if math.isfinite(points) else 0.0


def as_csv(reports: Sequence[Report]) -> str:
    """Return a line for each submission: its points, in total and by exercise."""
    table = Columns(reports)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["submission", "points", "max_points", *table.holes, *table.decisions])
    for report in reports:
        writer.writerow([unformula(report.submission), report.points, report.max_points,
                         *table.cells(report)])
    return out.getvalue()


class Columns:
    """The columns of a table of points: one for each exercise, and one if a person decided."""

    def __init__(self, reports: Iterable[Report]) -> None:
        """Find out what the columns are."""
        self.holes: list[str] = []
        self.decisions: list[str] = []
        self.most = 0
        for report in reports:
            self.holes += [hole.hole for hole in report.holes if hole.hole not in self.holes]
            self.most = max(self.most, report.max_points)
            if report.decisions:
                self.decisions = ["decided by a person"]

    def cells(self, report: Report | None) -> list[object]:
        """Return the cells of a submission in these columns, empty for a missing one."""
        points = {} if report is None else {hole.hole: hole.points for hole in report.holes}
        told = "" if report is None else unformula("; ".join(report.decisions))
        return [*(points.get(hole, "") for hole in self.holes), *(told for _ in self.decisions)]


def unformula(text: str) -> str:
    """Return text as one line that a spreadsheet does not read as a formula."""
    text = one_line(text)
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text


def as_html(reports: Sequence[Report]) -> str:
    """Return a page with a table of all submissions, with the reasons folded away."""
    return "".join(html_parts(reports))


def html_parts(reports: Iterable[Report]) -> Iterator[str]:
    """Yield the page of `as_html` in parts, one for each submission."""
    yield ('<!doctype html><html lang="en"><meta charset="utf-8"><title>Grades</title>'
           "<style>body{font:16px sans-serif;margin:2em}td,th{padding:.3em 1em;text-align:left;"
           "vertical-align:top}pre{white-space:pre-wrap;margin:.2em 0}</style><h1>Grades</h1>"
           "<table><tr><th>submission</th><th>points</th><th></th></tr>")
    for index, report in enumerate(reports):
        reasons = "".join(
            f"<li><b>{html.escape(hole.hole)} {html.escape(hole.title)}</b>: "
            f"<pre>{html.escape(explained(hole))}</pre></li>"
            for hole in report.holes if hole.reason or hole.note or hole.decision)
        reasons = "".join(f"<li><pre>{html.escape(printable(note))}</pre></li>"
                          for note in (*report.said, *report.notes)) + reasons
        unfolded = f"<details><summary>why</summary><ul>{reasons}</ul></details>" if reasons else ""
        yield "\n" * (index > 0) + (
            f"<tr><td>{html.escape(one_line(report.submission))}</td>"
            f"<td>{report.points} of {report.max_points}</td><td>{unfolded}</td></tr>")
    yield "</table></html>\n"


#: Formats for any number of submissions.
WRITERS: dict[str, Callable[[Sequence[Report]], str]] = {
    "json": as_json, "junit": as_junit, "csv": as_csv, "html": as_html,
}

#: Formats for one submission, as JSON.
FOR_ONE: dict[str, Callable[[Report], Any]] = {
    "gradescope": gradescope,
    "classroom50": lambda report: classroom50(report, os.environ),
    "nbgrader": nbgrader,
    "otter": gradescope,
}
