"""Test a stage on the learner's files, and print the verdict on each exercise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ..content.stages import Hole, Stage
from ..running.compose import Source
from ..running.trial import LIMIT, Outcome, Trial
from ..verdicts.tracebacks import own_lines
from ..verdicts.verdict import (
    Verdict,
    failing_line,
    short_name,
    shown_lines,
    verdicts,
    whole_package_sentence,
)
from ..verdicts.waiting import try_answers
from .wrapping import print_indented, print_wrapped

_MARKS = {"solved": "[green]solved[/]   ", "right": "[green]right[/]    ",
          "untouched": "[dim]untouched[/]", "waiting": "[dim]waiting[/]  ",
          "wrong": "[red]wrong[/]    "}

#: The error for a name that is missing from a learner's file.
_GONE = re.compile(r"cannot import name '(\w+)' from 'minigrad[\w.]*' \((.+)\)$")


def try_and_show(console: Console, stage: Stage, files: dict[str, Path], holes: list[Hole],
                 shared: Mapping[str, Source] | None = None) -> list[Verdict] | None:
    """Test files, show and return the verdicts; return `None` if the tests could not run.

    `shared` has the modules that several stages share.
    """
    trial = try_answers(stage, files, [each.id for each in holes], shared=shared, limit=LIMIT)
    if trial.problem:
        show_problem(console, trial)
        return None
    found = verdicts(stage, trial, holes)
    show_import_output(console, trial)
    for verdict in found:
        show(console, verdict)
    if len(found) == 1:
        show_open(console, found[0])
    earned, all_points = sum(each.points for each in found), sum(each.points for each in holes)
    console.print(f"{earned} of {all_points} points")
    if trial.whole is not None:
        show_whole(console, trial.whole)
    return found


def show_whole(console: Console, whole: Trial) -> None:
    """Show how the stage's files do below the whole package; see waiting.py."""
    print_wrapped(console, escape(whole_package_sentence(whole)))
    if whole.problem:
        _show_lines_of(console, whole)
    for each in whole.outcomes:
        if not each.passed:
            console.print(f"  {escape(short_name(each.test))} failed:")
            for line in _message_lines(each):
                _show_message_line(console, line)
            if each.where:
                console.print(f"  at {escape(each.where)}", soft_wrap=True)


def show_problem(console: Console, trial: Trial) -> None:
    """Say why no test could run: the last line of the error first, then its traceback."""
    lines = trial.problem.strip().splitlines()
    print_wrapped(console, f"[red]could not run the tests:[/] {escape(lines[-1])}")
    _show_lines_of(console, trial)
    if (gone := _GONE.search(lines[-1])) is not None:
        print_wrapped(console, f"  {escape(gone[2])} no longer defines {gone[1]}, which the "
                      "package needs. `minigrad reset` resets the files of a stage and keeps a "
                      "backup of yours.")
    show_import_output(console, trial)


def _show_lines_of(console: Console, trial: Trial) -> None:
    """Show the traceback of the error that kept the tests from running."""
    for line in own_lines(trial.problem.strip().splitlines()[:-1])[-7:]:
        if not line.startswith("Traceback "):
            console.print(f"  {escape(line)}")


def show_import_output(console: Console, trial: Trial) -> None:
    """Show what the files printed during their import."""
    if trial.printed:
        _show_text(console, "your files print while they are imported:", trial.printed)


def show(console: Console, verdict: Verdict) -> None:
    """Show the verdict on an exercise: its diagnosis, one failing test, and what it printed."""
    console.print(heading(verdict))
    if verdict.state == "wrong" and verdict.first is not None:
        _show_failure(console, verdict, verdict.first)
    show_printed(console, verdict)


def heading(verdict: Verdict) -> str:
    """Return the line with the verdict on an exercise."""
    for_whom = ""
    if verdict.state == "right":
        for_whom = f"[green]: correct, but waits for {escape(verdict.waits_for or '')}[/]"
    elif verdict.waits_for:
        for_whom = f" [dim](for {escape(verdict.needed)})[/]"
    return f"{_MARKS[verdict.state]} {verdict.hole.id} {escape(verdict.title)}{for_whom}"


def _show_failure(console: Console, verdict: Verdict, first: Outcome) -> None:
    if verdict.diagnosis is not None:
        print_indented(console, f"[bold]{escape(verdict.diagnosis)}[/]", 2)
    if not verdict.is_readable:  # all of its tests would fail in the same way
        if first.where:
            console.print(f"  at {escape(first.where)}", soft_wrap=True)
        return
    console.print(f"  {escape(short_name(first.test))} failed:")
    if asked := failing_line(first):
        console.print(f"    [dim]{escape(asked)}[/]", soft_wrap=True)
    for line in _message_lines(first):
        if f" it raises {line.rstrip('.')}." not in f"{verdict.diagnosis}":
            _show_message_line(console, line)
    if first.where:
        console.print(f"  at {escape(first.where)}", soft_wrap=True)
    if len(verdict.failing) > 1:
        others = verdict.also
        also = f"; also {', '.join(others[:3])}{_more(len(others) - 3)}" if others else ""
        print_wrapped(console, f"  {len(verdict.failing)} of its {verdict.tests} tests fail{also}")


def _message_lines(outcome: Outcome) -> list[str]:
    return [line for line in outcome.message.splitlines()[:12] if line.strip()]


def _show_message_line(console: Console, line: str) -> None:
    """Show a line of a failure, so that what doesn't fit continues below its beginning."""
    text = line.lstrip(" ")
    print_indented(console, escape(text), 4 + len(line) - len(text))


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def show_printed(console: Console, verdict: Verdict) -> None:
    """Show what an exercise printed in the first test in which it printed anything."""
    if verdict.printed:
        _show_text(console, *verdict.printed_first)


def _show_text(console: Console, head: str, text: str) -> None:
    lines, more = shown_lines(text)
    console.print(f"  [dim]{escape(head)}[/]", soft_wrap=True)
    for line in lines:
        console.print(f"  [dim]│[/] {escape(line)}", soft_wrap=True)
    if more:
        console.print(f"  [dim]│ ... and {more} more lines[/]")


def show_open(console: Console, verdict: Verdict) -> None:
    """Show where to write an exercise that is still empty."""
    if verdict.state == "untouched":
        locations = [each.where for each in verdict.failing
                  if not Path(each.where).name.startswith("test_")]
        if locations:
            console.print(f"  write it here: {escape(locations[0])}", soft_wrap=True)
