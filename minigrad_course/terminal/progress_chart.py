"""Draw progress through the course: one row per stage, one mark per exercise."""

from __future__ import annotations

from collections.abc import Iterator

from rich.markup import escape

from ..content.stages import Stage, stages
from ..learner.next_step import course_points, next_exercise
from ..learner.skipped_stages import skipped
from ..learner.workspace import Workspace

#: Marks for solved, open, skipped and next exercises, and plain ones for limited terminals.
MARKS, PLAIN = ("■", "□", "·", "▶"), ("#", "_", ".", ">")


def progress_chart(space: Workspace, encoding: str) -> Iterator[str]:
    """Yield the lines of the chart in Rich's markup."""
    solved_mark, open_mark, skipped_mark, next_mark = _marks(encoding)
    left_out, holes = skipped(space), space.progress()["holes"]
    found = next_exercise(space)
    upcoming = found[1].id if found else ""
    widest = max(len(stage.holes) for stage in stages())
    for stage in stages():
        row, earned = "", 0
        for hole in stage.holes:
            if holes.get(hole.id, {}).get("solved"):
                row, earned = f"{row}[green]{solved_mark}[/]", earned + hole.points
            elif stage.number in left_out:
                row += f"[dim]{skipped_mark}[/]"
            else:
                row += f"[bold]{next_mark}[/]" if hole.id == upcoming else open_mark
        row += " " * (widest - len(stage.holes))
        points = _points(stage, earned, stage.number in left_out)
        yield f"{stage.number:4}{row}  {points:10}  {escape(stage.words['title'])}"
    earned, possible = course_points(space)
    yield ""
    yield (f"    {solved_mark} solved  {next_mark} next  {open_mark} open  "
           f"{skipped_mark} skipped")
    yield f"{earned} of {possible} points, {100 * earned // possible} %"


def _points(stage: Stage, earned: int, is_skipped: bool) -> str:
    if not stage.holes:
        return "to read"
    possible = sum(hole.points for hole in stage.holes)
    return "skipped" if is_skipped and not earned else f"{earned} of {possible}"


def _marks(encoding: str) -> tuple[str, str, str, str]:
    try:
        "".join(MARKS).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return MARKS
