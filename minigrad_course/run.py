"""`minigrad run`: tests one stage of the course on the learner's files and says what came."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape

from .stages import Hole, Stage
from .trial import Trial, try_files
from .verdict import Verdict, verdicts

_MARKS = {"solved": "[green]solved[/]   ", "untouched": "[dim]untouched[/]",
          "waiting": "[dim]waiting[/]  ", "wrong": "[red]wrong[/]    "}


def try_and_show(console: Console, stage: Stage, files: dict[str, Path],
                 holes: list[Hole]) -> list[Verdict] | None:
    """Try files, show what came, and return the verdicts; None where nothing could be tested."""
    trial = try_files(stage, files, [each.id for each in holes])
    if trial.problem:
        show_problem(console, trial)
        return None
    found = verdicts(stage, trial, holes)
    for verdict in found:
        show(console, verdict)
    if len(found) == 1:
        show_open(console, found[0])
    earned, all_points = sum(each.points for each in found), sum(each.points for each in holes)
    console.print(f"{earned} of {all_points} points")
    return found


def show_problem(console: Console, trial: Trial) -> None:
    """Say why no test could run: the last lines of the error come first in use."""
    lines = trial.problem.strip().splitlines()
    console.print(f"[red]nothing could be tested:[/] {escape(lines[-1])}")
    for line in lines[-8:-1]:
        console.print(f"  {escape(line)}")


def show(console: Console, verdict: Verdict) -> None:
    """Show how a hole stands: diagnosis, the first failing test, and where it failed."""
    for_whom = f" [dim](for {escape(_waits_for(verdict))})[/]" if verdict.waits_for else ""
    console.print(f"{_MARKS[verdict.state]} {verdict.hole.id} {escape(verdict.title)}{for_whom}")
    first = verdict.first
    if verdict.state != "wrong" or first is None:
        return
    if verdict.diagnosis is not None:
        console.print(f"  [bold]{escape(verdict.diagnosis)}[/]")
    console.print(f"  {escape(first.test.rpartition('::')[2])} failed:")
    for line in first.message.splitlines()[:12]:
        console.print(f"    {escape(line)}")
    if first.where:
        console.print(f"  at {escape(first.where)}", soft_wrap=True)
    if len(verdict.failing) > 1:
        more = len(verdict.failing) - 1
        console.print(f"  {more} more of its {verdict.tests} tests fail{'s' if more == 1 else ''}")


def show_open(console: Console, verdict: Verdict) -> None:
    """Say where an exercise goes on of which nothing is written, or not all."""
    if verdict.state == "untouched":
        places = [each.where for each in verdict.failing
                  if not Path(each.where).name.startswith("test_")]
        if places:
            console.print(f"  to be written: {escape(places[0])}", soft_wrap=True)


def _waits_for(verdict: Verdict) -> str:
    """Name the exercise that is to be written first, or the function where it is in none."""
    assert verdict.waits_for is not None
    if verdict.waits_for.endswith(".0") and verdict.first is not None:
        return verdict.first.message.partition(".0 ")[2].partition(" is yours")[0]
    return verdict.waits_for
