"""`minigrad dev`: build the course from its sources and verify all of it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import typer

from ..content.own_exercises import added
from ..content.selection import stages_named
from ..content.stages import CourseError, Stage, checkout, stages
from ..dev.build import differences, overview, write
from ..dev.canary import canaries
from ..dev.first_verdict import pictures_of_readme
from ..dev.form import faults
from ..dev.relatives import findings as relatives_found
from ..dev.relatives import importable
from ..dev.relatives import relatives as find_relatives
from ..dev.verify import findings
from .shared import OwnExercises

app = typer.Typer(
    no_args_is_help=True,
    help="Build the course from its sources and verify all of it.",
)

Numbers = Annotated[
    list[str] | None, typer.Argument(help="Stages, such as 03; by default all.")]


def _chosen(numbers: list[str] | None) -> list[Stage]:
    try:
        return stages_named(",".join(numbers)) if numbers else stages()
    except CourseError as error:
        typer.echo(f"minigrad: {error}", err=True)
        raise typer.Exit(2) from None


@app.command()
def build(
    numbers: Numbers = None,
    check: Annotated[
        bool, typer.Option("--check",
                           help="Write nothing; exit with 1 if a file is out of date.")
    ] = False,
) -> None:
    """Fill in the lessons and make pictures, notebooks, exercises and solutions.

    \b
    Examples:
      minigrad dev build
      minigrad dev build 03 --check
    """
    wrong = False
    for stage in _chosen(numbers):
        try:
            for path in differences(stage) if check else write(stage):
                wrong = wrong or check
                print(f"{'differs' if check else 'written'}: {path.relative_to(stage.root)}")
            for fault in faults(stage):
                wrong = True
                typer.echo(fault, err=True)
        except ModuleNotFoundError as error:
            typer.echo(f"minigrad: dev build needs {error.name}, which the extra 'authors' "
                       "installs: pip install -e '.[authors]'", err=True)
            raise typer.Exit(2) from None
        except CourseError as error:
            wrong = True
            typer.echo(str(error), err=True)
    page, text = overview(checkout())
    if page.read_text(encoding="utf-8") != text:
        wrong = wrong or check
        print(f"{'differs' if check else 'written'}: {page.relative_to(checkout())}")
        if not check:
            page.write_text(text, encoding="utf-8")
    raise typer.Exit(int(wrong))


@app.command()
def verify(
    numbers: Numbers = None,
    sample: Annotated[
        int, typer.Option(help="Try only this many stages, different ones each day; 0 tries all.")
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only problems.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Stages to try at the same time.")] = 2,
    own: OwnExercises = None,
) -> None:
    """Test each stage as shipped, half solved, solved, and with each known mistake.

    Exits with 1 if a stub passes, a solution fails, a mistake passes or gets the wrong verdict, or
    a stage has too few or too many exercises, hints or mistakes.

    \b
    Examples:
      minigrad dev verify 03
      minigrad dev verify --sample 3
      minigrad dev verify --exercises scale_gradient
    """
    try:
        with added(own) as mine:
            _verify(mine if mine and not numbers else _chosen(numbers), sample, quiet, jobs)
    except CourseError as error:
        typer.echo(f"minigrad: {error}", err=True)
        raise typer.Exit(2) from None


def _verify(chosen: list[Stage], sample: int, quiet: bool, jobs: int) -> None:
    if sample:
        day = int(time.time() // 86400)
        chosen = [chosen[(day * sample + i) % len(chosen)] for i in range(min(sample, len(chosen)))]
    begun = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        count = sum(pool.map(lambda stage: _verified(stage, quiet), chosen))
    print(f"{len(chosen)} stages tried in {time.monotonic() - begun:.0f} s, {count} findings")
    raise typer.Exit(int(count > 0))


@app.command()
def canary(numbers: Numbers = None) -> None:
    """Plant a raise in each solved exercise: every test and probe of the exercise must hit it.

    This proves that tests and grading run the submitted file. Exits with 1 if one does not.

    \b
    Examples:
      minigrad dev canary
      minigrad dev canary 03 07
    """
    begun, count = time.monotonic(), 0
    met = {"holes": 0, "tests": 0, "probes": 0}

    def told(hole: str, tests: int, probes: int) -> None:
        print(f"{hole}: {tests} tests, {probes} probes", flush=True)
        for name, number in (("holes", 1), ("tests", tests), ("probes", probes)):
            met[name] += number

    for stage in _chosen(numbers):
        for finding in canaries(stage, told):
            count += 1
            print(f"WRONG  {finding}", flush=True)
    print(f"{met['holes']} exercises, {met['tests']} tests and {met['probes']} probes tried in "
          f"{time.monotonic() - begun:.0f} s, {count} findings")
    raise typer.Exit(int(count > 0))


@app.command()
def relatives(
    numbers: Numbers = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Only list the modules that a graded process can import.")
    ] = False,
) -> None:
    """Delegate each exercise to each function that a graded process can import.

    The probes decide whether one does what the exercise asks. Exits with 1 if an answer could hand
    all of its work on. A stage takes a minute or more.

    \b
    Examples:
      minigrad dev relatives 07
      minigrad dev relatives --list
    """
    begun, count = time.monotonic(), 0
    for stage in _chosen(numbers):
        if not stage.holes:
            continue
        if listed:
            print(f"{stage.number}: {' '.join(importable(stage))}")
            continue
        found = find_relatives(stage)
        for each in found:
            print(f"{each.hole} {each.symbol}: {each.kept} behave like it in its first call, "
                  f"{len(each.found)} answer: {', '.join(each.found) or '-'}", flush=True)
        for finding in relatives_found(found):
            count += 1
            print(f"WRONG  {finding}", flush=True)
    if not listed:
        print(f"{count} findings in {time.monotonic() - begun:.0f} s")
    raise typer.Exit(int(count > 0))


@app.command()
def picture(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if it would change.")
    ] = False,
) -> None:
    """Draw the README's moving picture from what `minigrad run 00.1` prints.

    \b
    Examples:
      minigrad dev picture
      minigrad dev picture --check
    """
    wrong = False
    for file, text in pictures_of_readme(checkout()).items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            wrong = check
            print(f"{'differs' if check else 'written'}: {file.relative_to(checkout())}")
            if not check:
                file.write_text(text, encoding="utf-8")
    raise typer.Exit(int(wrong))


def _verified(stage: Stage, quiet: bool) -> int:
    """Print the findings about a stage as they are found, and return how many there are."""
    count = 0
    try:
        for finding in findings(stage, (lambda _: None) if quiet else _told):
            count += 1
            print(f"WRONG  {finding}", flush=True)
    except CourseError as error:
        count += 1
        print(f"WRONG  {error}", flush=True)
    return count


def _told(what: str) -> None:
    print(f"trying {what}", flush=True)
