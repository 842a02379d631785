"""`minigrad export`: an assignment for a platform."""

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
    """A platform: how its assignment is written and tried, and what its users should know."""

    write: Callable[[Assignment, Path], list[Path]]
    grade: Callable[[Path, dict[str, str], FreshFolder], Graded]
    trust: str
    draws: bool = False  # whether a seed is drawn for the assignment if none is given
    program: str = ""  # the program that tries it, if installed


#: Said of every format whose graded cells run in the learner's kernel.
LOW = ("low trust: the learner's cells and the graded cell run in one kernel, so a cell can change "
       "what is reported")

FORMATS = {
    "gradescope": Format(gradescope.write, gradescope.grade,
                         "the grader alone writes results; what is handed in runs as another user",
                         draws=True),
    "classroom50": Format(classroom50.write, classroom50.grade,
                          "whoever finds the bundle's address can read it, so no seed is in it; "
                          "one is drawn at each grading"),
    "nbgrader": Format(nbgrader.write, nbgrader.grade, LOW, program="nbgrader"),
    "otter": Format(otter.write, otter.grade, LOW, draws=True, program="otter"),
}


@app.command("export")
def export(
    number: Annotated[str, typer.Argument(
        metavar="STAGE", help="A stage, such as 03, or several: 03,07 or 01-03b.")],
    form: Annotated[str, typer.Option("--format", help=" | ".join(FORMATS))],
    out: Annotated[Path, typer.Option("--out", help="A new folder for what is made.")],
    course: Annotated[
        Path | None, typer.Option("--course", help="course.toml: weights, hints, the seed.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Grade the exercise as shipped, the solution and a "
                                            "known mistake with it, offline.")
    ] = False,
) -> None:
    """Make an assignment of one stage or several: what students get, and the autograder to upload.

    Students get no solution, no hidden test and no seed. Exits with 1 if --verify finds a verdict
    that is not as it should be.

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
        raise CourseError(f"--format {form}: there are {', '.join(FORMATS)}")
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
        print(f"seed: {seed}, drawn for this assignment; it is in course.toml, keep it to yourself")
    print(f"{form}: {FORMATS[form].trust}")
    return verify and _verified(assignment, form, out)


def _verified(assignment: Assignment, form: str, out: Path) -> bool:
    print("verifying " + ("without a network" if offline() else
                          "(the network could not be cut off here)"), flush=True)
    if (program := FORMATS[form].program) and shutil.which(program) is None:
        print(f"  {program} is not installed here: cells are run one after the other without it")
    wrong = False
    for finding in findings(assignment, lambda files, fresh: FORMATS[form].grade(out, files, fresh),
                            lambda text: print(f"  {text}", flush=True)):
        wrong = True
        print(f"WRONG  {finding}", flush=True)
    return wrong
