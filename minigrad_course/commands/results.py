"""`minigrad results`: put the results of a class together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ..content.stages import CourseError
from ..grading.overrides import Decided, assigned, read_overrides
from ..grading.printable import one_line
from ..grading.roster import owners_of
from ..grading.roster_file import read_roster
from ..jobs.merge import merge as merge_results
from ..jobs.tables import write_tables
from .shared import in_one_sentence

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def results() -> None:
    """Merge the results of a class that was graded in parts."""


@app.command()
@in_one_sentence
def merge(
    folders: Annotated[list[Path], typer.Argument(
        help="The folders that `minigrad grade --shard` filled.")],
    keep: Annotated[Path, typer.Option(
        "--keep", help="The folder for results.jsonl, grades.csv, grades.html and feedback.")],
    roster: Annotated[
        Path | None, typer.Option("--roster", help="A CSV file with the class: id, name, email. "
                                                   "Its columns go into grades.csv.")
    ] = None,
) -> None:
    """Merge folders of results into one, and write the tables and feedback of the whole class.

    Merging twice has the same result as merging once. Exits with 1 if a submission has no record.

    \b
    Example:
      minigrad grade class/* --course course.toml --shard 1/2 --keep part-1
      minigrad grade class/* --course course.toml --shard 2/2 --keep part-2
      minigrad results merge part-1 part-2 --keep results --roster roster.csv
    """
    people = None if roster is None else read_roster(roster)
    errors = Console(stderr=True, highlight=False)
    for each in folders:
        if not each.is_dir():
            raise CourseError(f"cannot read {each}: it is not a folder")
    kept = merge_results(folders, keep)
    try:
        places = [each.place for each in kept.members]
        matched = None if people is None else people.match(
            places, [each.who for each in kept.members])
        for finding in () if matched is None else matched.findings():
            errors.print(escape(finding), soft_wrap=True)
        for index, member in enumerate(kept.members):
            entry = kept.entry(index)
            for sign in () if entry is None else entry.record.look:
                errors.print(escape(f"look at {one_line(member.who)}: {one_line(sign)}"),
                             soft_wrap=True)
        shown = [each.who for each in kept.members]
        decisions = assigned(read_overrides(keep, kept.most), shown, places, owners_of(matched))
        reports = Decided(kept, decisions)
        for index in sorted(decisions):
            for told in reports[index].decisions:
                errors.print(escape(f"decided by a person: {one_line(shown[index])}, "
                                    f"{one_line(told)}"), soft_wrap=True)
        write_tables(keep, reports, places, people, matched)
        without = kept.without
    finally:
        kept.close()
    typer.echo(f"{len(kept) - len(without)} of {len(kept)} submissions are in {keep}")
    if without:
        names = one_line(", ".join(without[:20])) + (" ..." if len(without) > 20 else "")
        typer.echo(f"minigrad: {len(without)} have no record yet and count as 0: {names}", err=True)
        raise typer.Exit(1)
