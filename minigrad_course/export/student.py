"""The students' folder: exercises as shipped, the lesson and instructions, but no answers.

NOTE [No answer is handed out]
    A lesson shows the package's own code, including the answers, because it teaches from that code.
    The version for a class leaves out every block that shows a line of a body to be written, and
    has no links to the package.  `leaks` checks everything again before it is handed out.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from minigrad import __version__

from ..content.lesson_blocks import Block, fill_rests, parse, picture_file, render
from ..content.source import body_span, module, symbols_in
from ..content.stages import CourseError, Stage
from ..learner.workspace import make_workspace
from .assignment import Assignment, put

__all__ = ["leaks", "lesson_without_answers", "put_lessons", "write_student"]

#: Shorter lines occur in many programs.
TELLING = 24
#: A <details> block that only contains notes that something is yours to write.
_EMPTY = re.compile(r"<details[^>]*>\n<summary>[^\n]*</summary>\n\n"
                    r"((?:\*\(.*yours to write\.\)\*\s+)+)</details>\n")


@cache
def answer_lines(stage: Stage) -> frozenset[str]:
    """Return the lines that occur only in bodies to be written, not in the code around them."""
    answers: set[str] = set()
    given: set[str] = set()
    for path in stage.modules:
        package = module(stage.package, path)
        spans = [body_span(package, package.function(symbol))
                 for hole in stage.holes for symbol in symbols_in(hole, path)]
        for number, line in enumerate(package.lines, 1):
            inside = any(first <= number <= last for first, last in spans)
            (answers if inside else given).add(line.strip())
    return frozenset(line for line in answers - given
                     if len(line) > TELLING and not line.startswith("#"))


def leaks(stage: Stage, texts: Mapping[str, str], seed: int | None = None) -> list[str]:
    """Return a sentence for each line of an answer, and each seed, that `texts` contain."""
    answers = answer_lines(stage)
    found = [f"{name} shows {line.strip()!r}" for name, text in texts.items()
             for line in text.splitlines() if line.strip() in answers]
    if seed is not None:
        found += [f"{name} contains the seed" for name, text in texts.items() if str(seed) in text]
    return found


def lesson_without_answers(stage: Stage) -> str:
    """Return a lesson's text without the blocks that show code to be written."""
    answers = answer_lines(stage)
    kept = []
    blocks = parse(stage.text(), stage.key)
    fill_rests(blocks, stage, lambda _: "")  # only names, because the package's files have answers
    for block in blocks:
        if block.kind == "widget":
            continue
        shows = any(line.strip() in answers
                    for line in [*block.text.splitlines(), *(block.printed or "").splitlines()])
        if shows and block.kind != "text":
            what = f"`{block.detail}`" if block.detail else "What the lesson shows here"
            block = Block("text", f"*({what} is yours to write.)*")
        kept.append(block)
    return _EMPTY.sub(r"\1", render(kept))


def put_lesson(folder: Path, stage: Stage) -> None:
    """Write the lesson without answers, and its pictures."""
    text = lesson_without_answers(stage)
    put(folder / "lesson.md", text)
    for block in parse(text, stage.key):
        if block.kind == "picture":
            file = picture_file(stage, block.detail)
            put(folder / "pictures" / file.name, file.read_text(encoding="utf-8"))


def put_lessons(folder: Path, assignment: Assignment) -> None:
    """Write the lesson; for several stages, each lesson into its own folder."""
    for stage in assignment.stages:
        put_lesson(folder if len(assignment.stages) == 1 else folder / "lessons" / stage.key, stage)


def write_student(assignment: Assignment, folder: Path, hand_in: str) -> Path:
    """Write the students' workspace and return it; `hand_in` tells how to submit."""
    make_workspace(folder, list(assignment.stages))
    put_lessons(folder, assignment)
    put(folder / "README.md", readme(assignment, hand_in))
    check(assignment, folder)
    return folder


def check(assignment: Assignment, folder: Path) -> None:
    """Raise CourseError if a folder for students shows an answer or the seed."""
    texts = {each.relative_to(folder).as_posix(): each.read_text(encoding="utf-8")
             for each in sorted(folder.rglob("*")) if each.is_file()}
    for name, text in list(texts.items()):
        if name.endswith(".ipynb"):
            cells = json.loads(text)["cells"]
            texts[name] = "\n".join("".join(cell["source"]) for cell in cells)
    if found := [leak for stage in assignment.stages
                 for leak in leaks(stage, texts, assignment.seed)]:
        raise CourseError(f"the students' files would show answers: {'; '.join(found[:5])}")


def readme(assignment: Assignment, hand_in: str) -> str:
    """Return the page with a student's instructions."""
    rows = [f"| {hole} | {assignment.hole_title(hole)} | {assignment.points(hole)} |"
            for hole in assignment.holes]
    lessons = ("`lesson.md`" if len(assignment.stages) == 1 else
               ", ".join(f"`lessons/{each.key}/lesson.md`" for each in assignment.stages))
    run = "\n".join(f"    .venv/bin/minigrad run {number}" for number in assignment.numbers)
    last = "The last line tests" if len(assignment.stages) == 1 else "The last lines test"
    files = "\n".join(f"- `exercises/{name}`" for name in assignment.exercises())
    return f"""# {assignment.title}

Read {lessons}, then write the missing code in

{files}

Each exercise describes what to write and ends in `raise NotImplementedError`. Write its body, and
leave the rest of the file unchanged.

| exercise | title | points |
|---|---|---|
{chr(10).join(rows)}

## Test your answers

You need Python 3.11 or newer and minigrad {__version__} with its extra `course`. Install the wheel
that you were given into a new environment:

    python -m venv .venv
    .venv/bin/pip install "minigrad_course-{__version__}-py3-none-any.whl[course]"
{run}

{last} your files; `minigrad hint {next(iter(assignment.holes))}` gives a hint. `progress.json` is
only your own record and does not count for the grade.

## Hand it in

{chr(10).join(textwrap.wrap(hand_in, 100))}

You earn points exercise by exercise, for what your code computes on random numbers that are drawn
when it is graded.
"""
