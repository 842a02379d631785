"""`minigrad export`: write an assignment for a teaching platform."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ..content.selection import stages_named
from ..content.stages import CourseError
from ..export import classroom50, gradescope, nbgrader, otter
from ..export.assignment import Assignment, new_folder
from ..export.verify import FreshFolder, Graded, findings, offline
from ..grading.settings import read_settings

app = typer.Typer()


class Format(NamedTuple):
    """A platform: how to write and grade its assignment, and how far its results can be trusted."""

    write: Callable[[Assignment, Path], list[Path]]
    grade: Callable[[Path, dict[str, str], FreshFolder], Graded]
    trust: str
    draws: bool = False  # whether to draw a seed if the course doesn't set one
    program: str = ""  # the program that grades it, if installed


#: The warning for formats that run graded cells in the learner's kernel.
LOW = ("low trust: the learner's cells and the graded cell share one kernel, so a cell can change "
       "the reported result")

FORMATS = {
    "gradescope": Format(gradescope.write, gradescope.grade,
                         "only the grader writes results; submissions run as another user",
                         draws=True),
    "classroom50": Format(classroom50.write, classroom50.grade,
                          "anyone who finds the bundle's address can read it, so it contains no "
                          "seed; each grading draws a new one"),
    "nbgrader": Format(nbgrader.write, nbgrader.grade, LOW, program="nbgrader"),
    "otter": Format(otter.write, otter.grade, LOW, draws=True, program="otter"),
}


@app.command("export")
def export(
    number: Annotated[str, typer.Argument(
        metavar="STAGE", help="A stage, such as 03, or several: 03,07 or 01-03b.")],
    form: Annotated[str, typer.Option("--format", help=" | ".join(FORMATS))],
    out: Annotated[Path, typer.Option("--out", help="A new folder to write to.")],
    course: Annotated[
        Path | None, typer.Option("--course", help="A course.toml with weights, hints and a seed.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Grade the shipped exercise, the solution and a known "
                                            "mistake with it, offline.")
    ] = False,
) -> None:
    """Make an assignment of one or more stages: the students' files and the autograder to upload.

    Students get no solutions, no hidden tests and no seed. Exits with 1 if --verify gets an
    unexpected verdict.

    \b
    Examples:
      minigrad export 03 --format gradescope --out handout
      minigrad export 07 --format gradescope --out handout --course course.toml --verify
      minigrad export 00,01,02 --format classroom50 --out handout
    """
    try:
        wrong = _export(number, form, out, course, verify)
    except CourseError as error:
        typer.echo(f"minigrad: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(int(wrong))


def _export(number: str, form: str, out: Path, course: Path | None, verify: bool) -> bool:
    if form not in FORMATS:
        raise CourseError(f"--format {form}: unknown format; the formats are {', '.join(FORMATS)}")
    stages = tuple(stages_named(number))
    for stage in stages:
        if not stage.holes:
            raise CourseError(f"stage {stage.number} has no exercises to grade")
    settings = read_settings(course, [])
    known = {hole.id for stage in stages for hole in stage.holes}
    seed, drawn = settings.seed, False
    if FORMATS[form].draws and seed is None:
        seed, drawn = secrets.randbits(48), True
    assignment = Assignment(stages, seed,
                            {hole: points for hole, points in settings.weights.items()
                             if hole in known}, settings.hints)
    new_folder(out)
    for path in FORMATS[form].write(assignment, out):
        print(f"written: {path}")
    if drawn:
        print(f"seed: {seed}, drawn for this assignment and stored in course.toml; keep it secret")
    print(f"{form}: {FORMATS[form].trust}")
    return verify and _verified(assignment, form, out)


def _verified(assignment: Assignment, form: str, out: Path) -> bool:
    print("verifying " + ("offline" if offline() else
                          "(could not cut off the network here)"), flush=True)
    if (program := FORMATS[form].program) and shutil.which(program) is None:
        print(f"  {program} is not installed here, so the cells run in order without it")
    wrong = False
    for finding in findings(assignment, lambda files, fresh: FORMATS[form].grade(out, files, fresh),
                            lambda text: print(f"  {text}", flush=True)):
        wrong = True
        print(f"WRONG  {finding}", flush=True)
    return wrong
