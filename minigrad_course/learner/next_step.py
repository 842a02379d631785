"""Tell a learner the next step, and find files that changed since they were last tested."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from rich.markup import escape

from ..content.stages import Hole, Stage, checkout, stages
from .skipped_stages import skipped, solved_stages, uncounted
from .workspace import Workspace

__all__ = [
    "changed_stages",
    "course_points",
    "glossary",
    "next_exercise",
    "next_step",
    "note_tested",
    "solved_summary",
    "where_to_write",
    "with_noun",
    "without_skipped",
]


def glossary() -> str:
    """Return where to find the names used in tasks and hints: a file and a heading in it."""
    return f'{checkout() / "docs" / "en" / "glossary.md"}, "Names in the exercises"'


def note_tested(space: Workspace, stage: Stage) -> None:
    """Record that the files of a stage were tested in their present form."""
    space.keep(tested=space.progress().get("tested", {}) | {stage.number: _digest(space, stage)})


def changed_stages(space: Workspace) -> list[Stage]:
    """Return stages with solved exercises whose files have changed since they were tested."""
    tested = space.progress().get("tested", {})
    return [stage for stage in stages() if stage.number in tested
            and any(space.solved(hole) for hole in stage.holes)
            and tested[stage.number] != _digest(space, stage)]


def _digest(space: Workspace, stage: Stage) -> str:
    known = hashlib.sha256()
    for path in stage.modules:
        file = stage.exercise(path, space.exercises)
        known.update(file.read_bytes() if file.is_file() else b"")
        known.update(b"\0")
    return known.hexdigest()[:16]


def next_exercise(space: Workspace, after: Stage | None = None) -> tuple[Stage, Hole] | None:
    """Return the first open exercise that is not skipped, if possible in stage `after` or later."""
    left_out, found = skipped(space), []
    for stage in stages():
        if stage.number not in left_out:
            found += [(stage, hole) for hole in stage.holes if not space.solved(hole)]
    later = [each for each in found if after is None or each[0].key >= after.key]
    return next(iter([*later, *found]), None)


def where_to_write(space: Workspace, stage: Stage, hole: Hole) -> Iterator[str]:
    """Yield lines with the functions to write, their files, and the command that shows the lesson.

    The lines don't name the lesson's file, because the answers in it aren't folded.
    """
    for path, names in groupby(hole.symbols, lambda each: each.partition(":")[0]):
        symbols = ", ".join(each.partition(":")[2] for each in names)
        file = _task_location(stage.exercise(path, space.exercises), hole)
        yield f"write {escape(symbols)} in {escape(file)}"
    yield f"for names used inside the package, see {escape(glossary())}"
    yield f"the lesson: minigrad lesson {stage.number}"


def _task_location(file: Path, hole: Hole) -> str:
    """Return a file with the line where an exercise's task begins, if it is still there."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return str(file)
    line = next((n for n, text in enumerate(lines, 1) if f"# {hole.id} " in text), None)
    return str(file) if line is None else f"{file}:{line}"


def course_points(space: Workspace) -> tuple[int, int]:
    """Return the points earned so far, and their maximum.

    Exercises of stages that do not count, such as skipped ones, count only if they are solved.
    """
    left_out, solved = uncounted(space), space.progress()["holes"]
    earned = possible = 0
    for stage in stages():
        for hole in stage.holes:
            is_solved = bool(solved.get(hole.id, {}).get("solved"))
            earned += hole.points * is_solved
            possible += hole.points * (is_solved or stage.number not in left_out)
    return earned, possible


def without_skipped(space: Workspace) -> str:
    """Return the end of a sentence about points: the number of stages left out of them.

    Stages that were solved and then skipped count.
    """
    count = len(skipped(space) - {stage.number for stage in solved_stages(space)})
    return f", not counting {with_noun(count, 'skipped stage')}" if count else ""


def next_step(space: Workspace, after: Stage | None = None) -> Iterator[str]:
    """Yield lines that tell what to do next."""
    found = next_exercise(space, after)
    if found is None:
        yield "next: all exercises are solved; finish with `minigrad capstone` and lesson 14"
        return
    stage, hole = found
    if stage.number in uncounted(space):
        yield ("next: all exercises up to the capstone are solved; finish with `minigrad capstone` "
               "and lesson 14, or go on after it")
    title = stage.words["hole"][hole.id]["title"]
    path = hole.symbols[0].partition(":")[0]
    yield f"next: {hole.id} {escape(title)}, {with_noun(hole.points, 'point')}"
    if after is None or stage.key != after.key:
        yield f"  read    minigrad lesson {stage.number}"
    yield f"  write   {escape(_task_location(stage.exercise(path, space.exercises), hole))}"
    yield f"  test    minigrad run {hole.id}"


def with_noun(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural.

    >>> with_noun(1, "point"), with_noun(2, "hint")
    ('1 point', '2 hints')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def solved_summary(space: Workspace, stage: Stage) -> Iterator[str]:
    """Yield a line with the points and hints of a solved stage."""
    points = sum(hole.points for hole in stage.holes)
    hints = sum(space.hints_taken(hole) for hole in stage.holes)
    taken = f", {with_noun(hints, 'hint')} taken" if hints else ", no hints taken"
    earned, possible = course_points(space)
    yield (f"[green]stage {stage.number} is solved[/]: {points} of {points} points{taken}; "
           f"{earned} of {possible} in the course{without_skipped(space)}")
