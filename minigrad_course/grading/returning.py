"""Return grades and feedback to Moodle or Canvas, in the files that each of them imports.

NOTE [What the platforms read]
    Moodle and Canvas find the student by the numbers in a file's name, so feedback goes back under
    the name of the submission.  Moodle reads the participant's number and the kind of submission
    from the folder (mod/assign/feedback/file/importziplib.php); a folder that ends with "_" works
    in all versions.  Its table of grades needs the columns Identifier, Grade and Last modified
    (importgradeslib.php beside it).  Canvas reads the numbers of the user and of the attachment
    (generate_comments_from_files in app/models/abstract_assignment.rb), and ignores the rest.
"""

from __future__ import annotations

import csv
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from .feedback import as_page
from .platforms import CANVAS, MOODLE
from .printable import one_line
from .report import Report
from .writers import unformula

__all__ = ["write_returns"]


def write_returns(folder: Path, reports: Sequence[Report], places: Sequence[str],
                  names: Mapping[int, str]) -> None:
    """Write `moodle_*` or `canvas_*` files if submissions have the names of that platform.

    `names` gives students' names, by the index of the submission.
    """
    for platform, pattern in (("moodle", MOODLE), ("canvas", CANVAS)):
        found = {index: match for index, place in enumerate(places)
                 if (match := _match(pattern, place)) is not None}
        if found:
            _write_feedback(folder / f"{platform}_feedback.zip", reports, found, platform)
            _write_grades(folder / f"{platform}_grades.csv", reports, found, platform, names)


def _match(pattern: re.Pattern[str], place: str) -> re.Match[str] | None:
    """Match the name of a submission, or of its folder; hidden characters never match."""
    *_, above, name = ["", *Path(place).parts]
    return next((match for each in (name, above) if one_line(each) == each
                 and (match := pattern.match(each)) is not None), None)


def _write_feedback(file: Path, reports: Sequence[Report], found: Mapping[int, re.Match[str]],
                    platform: str) -> None:
    taken: Counter[str] = Counter()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for index, match in found.items():
            if platform == "moodle":
                stem, ending = f"{match[0].rstrip('_')}_/feedback", ".html"
            else:
                stem, ending = match.string, ".html"
            taken[stem] += 1
            number = f"-{taken[stem]}" if taken[stem] > 1 else ""
            # the date is fixed, so that the same feedback gives the same archive
            archive.writestr(zipfile.ZipInfo(f"{stem}{number}{ending}"), as_page(reports[index]),
                             zipfile.ZIP_DEFLATED)


def _write_grades(file: Path, reports: Sequence[Report], found: Mapping[int, re.Match[str]],
                  platform: str, names: Mapping[int, str]) -> None:
    """Write a line for each student with one submission; which of several counts is not known."""
    counts = Counter(match[2] for match in found.values())
    with open(file, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        rows = ((names.get(index, match[1]), match[2], reports[index])
                for index, match in found.items() if counts[match[2]] == 1)
        if platform == "moodle":
            writer.writerow(["Identifier", "Full name", "Grade", "Maximum Grade",
                             "Last modified (grade)", "Feedback comments"])
            for name, number, report in rows:
                told = "; ".join(f"{hole.hole}: {hole.points} of {hole.max_points}"
                                 for hole in report.holes)
                writer.writerow([f"Participant {number}", unformula(name), report.points,
                                 report.max_points, "-", told])
            return
        most = max(reports[index].max_points for index in found)
        writer.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "minigrad"])
        writer.writerow(["Points Possible", "", "", "", "", most])
        for name, number, report in rows:
            writer.writerow([unformula(name), number, "", "", "", report.points])
