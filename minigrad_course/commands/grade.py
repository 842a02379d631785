"""`minigrad grade`: grade submissions."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ..content.own_exercises import added
from ..content.stages import CourseError
from ..grading.export_zip import Found, submissions
from ..grading.grade import NOT_PYTHON
from ..grading.intake import labels
from ..grading.overrides import Decided, Override, assigned, read_overrides
from ..grading.printable import one_line
from ..grading.progress import Counted
from ..grading.reach import refuse_answers
from ..grading.report import Report
from ..grading.roster import Roster, owners_of
from ..grading.roster_file import read_roster
from ..grading.sandbox import Limits, Sandbox, best_sandbox
from ..grading.settings import Settings, read_settings
from ..grading.ungraded import could_not
from ..grading.writers import FOR_ONE, WRITERS
from ..jobs.batch import grade_all
from ..jobs.executors import executor_named, shard_named
from ..jobs.history import Again, History
from ..jobs.record import Record
from ..jobs.tables import write_tables
from ..terminal.wrapping import print_indented
from .shared import OwnExercises

app = typer.Typer()
FORMATS = ("terminal", *WRITERS, *FOR_ONE)


@app.command()
def grade(
    # An unreadable file means zero points for one submission; it must not stop the class.
    paths: Annotated[list[Path], typer.Argument(
        help="Submitted files or folders, or the archive that a platform exported.",
        readable=False)],
    stage: Annotated[
        list[str] | None, typer.Option("--stage", help="A stage to grade; may be repeated.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help=" | ".join(FORMATS))] = "terminal",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the result to this file.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", help="A folder for results.jsonl, grades.csv and grades.html; an "
                                    "interrupted run resumes from it."),
    ] = None,
    course: Annotated[
        Path | None, typer.Option("--course", help="A course.toml with stages, weights, a seed.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="The secret seed of the probes; by default random.")
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="How many submissions to grade in parallel.")
    ] = 1,
    seconds: Annotated[
        float, typer.Option("--seconds", min=1, help="The time limit for each process.")
    ] = 60,
    all_seconds: Annotated[
        float | None, typer.Option("--all-seconds", min=1,
                                   help="The time limit for all processes of one submission to "
                                        "one stage; by default 4 times --seconds.")
    ] = None,
    require_sandbox: Annotated[
        bool, typer.Option("--require-sandbox", help="Refuse to grade without bubblewrap.")
    ] = False,
    roster: Annotated[
        Path | None, typer.Option("--roster", help="A CSV file with the class: id, name, email. "
                                                   "Its columns go into grades.csv.")
    ] = None,
    regrade: Annotated[
        list[str] | None, typer.Option("--regrade", help="Grade this submission again even if it "
                                                         "has a verdict; or all.")
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", help="Why you grade it again; kept with the result.")
    ] = "",
    shard: Annotated[
        str, typer.Option("--shard", help="Grade one part of the class, such as 3/10; name the "
                                          "whole class each time, and merge the results.")
    ] = "",
    own: OwnExercises = None,
    executor: Annotated[
        str, typer.Option("--executor", help="Run the jobs elsewhere: dask:ADDRESS, or "
                                             "module:callable for any other executor.")
    ] = "",
) -> None:
    """Grade submissions in a sandbox: seeded probes run there, and their answers are checked here.

    Exits with 0 when every submission got a grade, even a low one, and with 1 if some submission
    could not be graded.

    \b
    Examples:
      minigrad grade handin.py --stage 07
      minigrad grade class/* --course course.toml --keep results --workers 2
      minigrad grade export.zip --course course.toml --keep results
      minigrad grade class/* --course course.toml --keep results --roster roster.csv
      minigrad grade class/* --course course.toml --keep results --regrade all --reason "a test"
      minigrad grade class/* --course course.toml --shard 3/10 --keep part-3
      minigrad grade class/* --course course.toml --keep results --executor dask:tcp://host:8786
      minigrad grade class/* --exercises scale_gradient --keep results
      minigrad grade . --stage 03 --format gradescope --out results.json
    """
    try:
        people = None if roster is None else read_roster(roster)
        if own is not None and executor:
            raise CourseError("--exercises cannot be used with --executor, because other machines "
                              "do not have the folder; use --shard")
        with ExitStack() as stack:
            mine = stack.enter_context(added(own))
            settings = read_settings(course, stage or ([] if course else [
                each.number for each in mine]))
            found = Found(paths) if form in FOR_ONE else stack.enter_context(
                submissions(paths, settings.stages))
            for finding in found.findings:
                typer.echo(f"minigrad: {finding}", err=True)
            again = _again(regrade or [], reason, found.paths, keep)
            reports = _grade(found.paths, settings, form, out, keep, course, seed, workers,
                             Limits(seconds=seconds, total=all_seconds), require_sandbox, people,
                             again, shard, executor)
    except CourseError as error:
        typer.echo(f"minigrad: {error}", err=True)
        raise typer.Exit(2) from None
    if failed := [report.submission for report in reports if could_not(report)]:
        names = one_line(", ".join(failed[:20])) + (" ..." if len(failed) > 20 else "")
        typer.echo(f"minigrad: {len(failed)} of {len(reports)} could not be graded and count as 0: "
                   f"{names}", err=True)
        raise typer.Exit(1)


def _grade(paths: list[Path], settings: Settings, form: str, out: Path | None, keep: Path | None,
           course: Path | None, seed: int | None, workers: int, limits: Limits,
           require_sandbox: bool, roster: Roster | None, again: Again | None, shard: str,
           executor: str) -> list[Report]:
    if form not in FORMATS:
        raise CourseError(f"--format {form}: unknown format; the formats are {', '.join(FORMATS)}")
    if form in FOR_ONE and len(paths) != 1:
        raise CourseError(f"--format {form} takes one submission, but {len(paths)} were named")
    part = _part(shard, keep, roster, seed if seed is not None else settings.seed)
    # elsewhere, each worker uses the best sandbox of its machine
    sandbox = Sandbox("") if executor else best_sandbox(require_sandbox)
    if sandbox.method and sandbox.method != "limits":
        refuse_answers([*paths, *(each for each in (keep, course) if each is not None)])
    errors = Console(stderr=True, highlight=False)
    errors.print(f"sandbox: {sandbox.method}: {sandbox.kept}" if sandbox.method else
                 f"jobs run in {executor}, in the best sandbox there", style="dim")
    kept = None
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        kept = keep / "results.jsonl"
    wanted = _seed(seed, settings.seed, keep)
    chosen_paths = paths[part[0] - 1 :: part[1]]
    shown = labels(paths)[part[0] - 1 :: part[1]]
    names = [str(path) for path in chosen_paths]
    matched = None if roster is None else roster.match(names, shown)
    decisions: dict[int, list[Override]] = {}
    if keep is not None and not shard:  # an error in the file is reported before grading
        overrides = read_overrides(keep, settings.most)
        decisions = assigned(overrides, shown, names, owners_of(matched))
    with (Counted(errors, len(chosen_paths)) as counted,
          executor_named(executor) if executor else nullcontext() as pool):
        records = grade_all(paths, settings, sandbox, wanted, workers, kept,
                            lambda _: counted.advance(), limits, again, counted.went_on, pool, part,
                            require_sandbox)
    reports = [*Decided([replace(record.report, submission=label) for record, label in
                         zip(records, shown, strict=True)], decisions)]
    for finding in () if matched is None else matched.findings():
        errors.print(escape(finding), soft_wrap=True)
    for finding in () if form in FOR_ONE else _to_look_at(records, reports):
        errors.print(escape(f"look at {finding}"), soft_wrap=True)
    for index in sorted(decisions):
        for told in reports[index].decisions:
            errors.print(escape(f"decided by a person: {one_line(shown[index])}, {one_line(told)}"),
                         soft_wrap=True)
    if again is not None and kept is not None:
        for before, after in History(kept).changes(again.reason):
            name = escape(one_line(after.record.report.submission))
            errors.print(f"regraded: {name}: {before.record.report.points} -> "
                         f"{after.record.report.points}",
                         soft_wrap=True)
    writers = WRITERS if roster is None else {
        **WRITERS, "csv": lambda reports: roster.as_csv(reports, names)}
    if keep is not None and not shard:
        write_tables(keep, reports, names, roster, matched)
    if form == "terminal" and out is None:
        for report in reports:
            _show(Console(highlight=False), report)
        return reports
    text = writers["csv"](reports) if form == "csv" else _written(form, reports)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    return reports


def _to_look_at(records: list[Record], reports: list[Report]) -> Iterator[str]:
    """Yield the findings about submissions that earned points, for the teacher to check."""
    for record, report in zip(records, reports, strict=True):
        yield from (f"{one_line(report.submission)}: {one_line(each)}" for each in record.look)


def _part(shard: str, keep: Path | None, roster: Roster | None, seed: int | None
          ) -> tuple[int, int]:
    """Return the shard to grade; raise CourseError if the other options do not fit it."""
    if not shard:
        return 1, 1
    part = shard_named(shard)
    if keep is None:
        raise CourseError("--shard needs --keep, the folder for this shard's results")
    if seed is None:
        raise CourseError("--shard needs a seed, in course.toml or as --seed, because all shards "
                          "must ask the same questions")
    if roster is not None:
        raise CourseError("--shard takes no --roster; give it to `minigrad results merge`")
    return part


def _again(names: list[str], reason: str, paths: list[Path], keep: Path | None) -> Again | None:
    """Return the submissions to grade again; raise CourseError if the options do not fit."""
    if bool(names) != bool(reason.strip()):
        raise CourseError("--regrade and --reason need each other: what to grade again, and why")
    if not names:
        return None
    if keep is None:
        raise CourseError("--regrade needs --keep, the folder with the earlier verdicts")
    again = Again(frozenset(names), reason.strip())
    for name in names:
        if name != "all" and not any(name in (path.name, str(path)) for path in paths):
            raise CourseError(f"--regrade {name}: no such submission was named")
    return again


def _seed(given: int | None, set_for_all: int | None, keep: Path | None) -> int:
    """Return the seed; a resumed run uses the seed that it started with."""
    if given is not None or set_for_all is not None:
        return given if given is not None else int(set_for_all or 0)
    if keep is None:
        return secrets.randbits(48)
    path = keep / "seed"
    if not path.exists():
        path.touch(0o600)
        path.write_text(f"{secrets.randbits(48)}\n", encoding="utf-8")
    try:
        return int(path.read_text(encoding="utf-8"))
    except ValueError:
            raise CourseError(f"{path} contains no seed; delete the file to start again") from None


def _written(form: str, reports: list[Report]) -> str:
    if form in FOR_ONE:
        return json.dumps(FOR_ONE[form](reports[0]), indent=1) + "\n"
    return WRITERS["json" if form == "terminal" else form](reports)


def _show(console: Console, report: Report) -> None:
    console.print(f"[bold]{escape(one_line(report.submission))}[/]: {report.points} of "
                  f"{report.max_points}")
    for note in (*report.said, *report.notes):
        console.print(f"  {escape(one_line(note))}", soft_wrap=True)
    for hole in report.holes:
        console.print(f"  {hole.points:3} of {hole.max_points:<3} {hole.hole} {escape(hole.title)}"
                      + (f": {escape(hole.reason or hole.note)}"
                         if hole.reason or hole.note else ""), soft_wrap=True)
        if hole.decision:
            print_indented(console, f"a person decided: {escape(one_line(hole.decision))}", 13)
        if hole.diagnosis:
            print_indented(console, f"[bold]{escape(hole.diagnosis)}[/]", 13)
        has_told = hole.reason in ("", "not written yet", NOT_PYTHON)
        for test, message in () if has_told else hole.failing[:1]:
            first = message.splitlines()[0] if message else ""
            print_indented(console, f"{escape(test.rpartition('::')[2])}: {escape(first)}", 13)
        for hint in hole.hints:
            print_indented(console, f"hint: {escape(' '.join(hint.split()))}", 13)
