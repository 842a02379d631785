"""Draw progress through the course: one row per stage, one mark per exercise.

On a screen with few lines, the stages around the next exercise keep their rows, and those further
away share one row with their neighbors in the same state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rich.markup import escape

from ..content.stages import Stage, stages
from ..learner.next_step import course_points, next_exercise, without_skipped
from ..learner.skipped_stages import skipped
from ..learner.workspace import Workspace

#: The exercises in progress.json, by id.
Holes = Mapping[str, Mapping[str, Any]]
#: Marks for solved, open, skipped and next exercises, and plain ones for limited terminals.
MARKS, PLAIN = ("■", "□", "·", "▶"), ("#", "_", ".", ">")


def progress_chart(space: Workspace, encoding: str, height: int | None = None) -> Iterator[str]:
    """Yield the lines of the chart in Rich's markup, at most `height` of them if it's given."""
    solved_mark, open_mark, skipped_mark, next_mark = _marks(encoding)
    left_out, holes = skipped(space), space.progress()["holes"]
    found = next_exercise(space)
    upcoming = found[1].id if found else ""
    widest = max(len(stage.holes) for stage in stages())
    states = _states(holes, left_out)
    here = found[0] if found else stages()[-1]
    for group in _grouped(states, here, None if height is None else height - 3):
        if len(group) > 1:
            yield _shared_row(group, states, holes, widest)
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
    yield (f"{earned} of {possible} points, {100 * earned // max(possible, 1)} %"
           f"{without_skipped(space)}")


def _states(holes: Holes, left_out: Collection[str]) -> dict[str, str]:
    """Return for each stage, by number, whether it is solved, skipped, begun or open."""
    states = {}
    for stage in stages():
        solved = [bool(holes.get(hole.id, {}).get("solved")) for hole in stage.holes]
        states[stage.number] = ("solved" if solved and all(solved) else
                                "skipped" if stage.number in left_out else
                                "begun" if any(solved) else "open")
    return states


def _grouped(states: Mapping[str, str], here: Stage, rows: int | None) -> list[list[Stage]]:
    """Return the stages of each row.

    If there are more than `rows`, neighbors in the same state share a row, except near `here`.
    """
    known = stages()
    middle = known.index(here)
    for apart in range(len(known), 0, -1):  # stages at least so far from the middle may share
        groups: list[list[Stage]] = []
        for n, stage in enumerate(known):
            before = groups[-1][-1] if groups else stage
            if (groups and min(abs(n - middle), abs(n - 1 - middle)) >= apart
                    and states[before.number] == states[stage.number]):
                groups[-1].append(stage)
            else:
                groups.append([stage])
        if rows is None or len(groups) <= rows:
            break
    return groups


def _shared_row(group: list[Stage], states: Mapping[str, str], holes: Holes, widest: int) -> str:
    inside = [hole for stage in group for hole in stage.holes]
    earned = sum(hole.points for hole in inside if holes.get(hole.id, {}).get("solved"))
    points = f"{earned} of {sum(hole.points for hole in inside)}"
    names = f"{group[0].number} to {group[-1].number}"
    return f"{names:{4 + widest}}  {points:10}  {len(group)} stages, {states[group[0].number]}"


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
