"""Write what a class gets: tables of points, feedback for each student, files for platforms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..grading.feedback import write_feedback
from ..grading.report import Report
from ..grading.returning import write_returns
from ..grading.roster import Matched, Roster, owners_of
from ..grading.writers import as_csv, html_parts

__all__ = ["write_tables"]


def write_tables(folder: Path, reports: Sequence[Report], places: Sequence[str],
                 roster: Roster | None = None, matched: Matched | None = None) -> None:
    """Write `grades.csv`, `grades.html` and `feedback` for a class, and what platforms import.

    Reads one report at a time, so that the reports of a large class need not be in memory.
    """
    text = as_csv(reports) if roster is None else roster.as_csv(reports, places)
    (folder / "grades.csv").write_text(text, encoding="utf-8")
    with open(folder / "grades.html", "w", encoding="utf-8") as page:
        page.writelines(html_parts(reports))
    write_feedback(folder / "feedback", reports, owners_of(matched))
    names = {} if matched is None else {i: each.row.get("name", "") or each.id
                                        for i, each in matched.owners.items()}
    write_returns(folder, reports, places, names)
