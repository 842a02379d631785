"""Draw progress through the course: one row per stage, one mark per exercise.

On a screen with few lines, the stages around the next exercise keep their rows, and those further
away share one row with their neighbors in the same state.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.markup import escape

from ..content.stages import Stage, stages
from ..learner.next_step import course_points, next_exercise
from ..learner.skipped_stages import skipped
from ..learner.workspace import Workspace

#: Marks for solved, open, skipped and next exercises, and plain ones for limited terminals.
MARKS, PLAIN = ("■", "□", "·", "▶"), ("#", "_", ".", ">")


def progress_chart(space: Workspace, encoding: str, height: int | None = None) -> Iterator[str]:
    """Yield the lines of the chart in Rich's markup, at most `height` of them if it's given."""
    solved_mark, open_mark, skipped_mark, next_mark = _marks(encoding)
    left_out, holes = skipped(space), space.progress()["holes"]
    found = next_exercise(space)
    upcoming = found[1].id if found else ""
    widest = max(len(stage.holes) for stage in stages())
    for group in _grouped(space, None if height is None else height - 3):
        if len(group) > 1:
            yield _shared_row(space, group, widest)
            continue
        (stage,) = group
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


def _grouped(space: Workspace, rows: int | None) -> list[list[Stage]]:
    """Return the stages of each row, so that there are at most `rows`; fewest stages share one."""
    known = stages()
    found = next_exercise(space)
    here = known.index(found[0]) if found else len(known) - 1
    nearest = len(known)
    while True:
        groups: list[list[Stage]] = []
        for n, stage in enumerate(known):
            if groups and abs(n - here) > nearest and abs(n - 1 - here) > nearest and \
                    _state(space, groups[-1][-1]) == _state(space, stage):
                groups[-1].append(stage)
            else:
                groups.append([stage])
        if rows is None or len(groups) <= rows or not nearest:
            return groups
        nearest -= 1


def _state(space: Workspace, stage: Stage) -> str:
    if all(space.solved(hole) for hole in stage.holes) and stage.holes:
        return "solved"
    if stage.number in skipped(space):
        return "skipped"
    return "begun" if any(space.solved(hole) for hole in stage.holes) else "open"


def _shared_row(space: Workspace, group: list[Stage], widest: int) -> str:
    holes = [hole for stage in group for hole in stage.holes]
    earned = sum(hole.points for hole in holes if space.solved(hole))
    points = f"{earned} of {sum(hole.points for hole in holes)}"
    names = f"{group[0].number} to {group[-1].number}"
    return f"{names:{4 + widest}}  {points:10}  {len(group)} stages, {_state(space, group[0])}"


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
