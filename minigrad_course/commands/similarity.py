"""`minigrad similarity`: find answers copied from the package or from another student."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..content.own_exercises import added
from ..content.selection import stages_named
from ..content.stages import CourseError, Stage, stages
from ..grading.export_zip import submissions
from ..grading.intake import labels
from ..grading.printable import one_line
from ..jobs.job import check_existence, files_of
from ..jobs.reader import read_all
from ..similarity.compare import Likeness, compare_answers
from ..similarity.pages import Named, Texts, as_csv, as_html, exercises
from ..similarity.signs import Sign
from .shared import OwnExercises

app = typer.Typer()
FORMATS = ("terminal", "csv", "html")


@app.command()
def similarity(
    # One unreadable file must not stop the comparison.
    paths: Annotated[list[Path], typer.Argument(
        help="Submitted files or folders, or the archive that a platform exported.",
        readable=False)],
    stage: Annotated[
        list[str] | None, typer.Option("--stage", help="A stage to compare; may be repeated.")
    ] = None,
    own: OwnExercises = None,
    form: Annotated[str, typer.Option("--format", help=" | ".join(FORMATS))] = "terminal",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the result to this file.")
    ] = None,
) -> None:
    """Report answers that are suspiciously similar to the package's source or to each other.

    Ignores comments, layout, names, statements without effect, and code that the exercise or its
    task gives. Also reports code that executes text, large literals, and names of exercises that
    are bound to something else. A report says where to look but is no proof: read the lines
    marked by --format html.

    \b
    Examples:
      minigrad similarity class/*
      minigrad similarity class/* --stage 03 --format html --out alike.html
    """
    try:
        if form not in FORMATS:
            raise CourseError(f"--format {form}: unknown format; the formats are "
                              f"{', '.join(FORMATS)}")
        with ExitStack() as stack:
            mine = stack.enter_context(added(own))
            chosen = stages_named(",".join(stage)) if stage else mine or [
                each for each in stages() if each.holes]
            handed_in = stack.enter_context(submissions(paths, chosen))
            for finding in handed_in.findings:
                typer.echo(f"minigrad: {finding}", err=True)
            found, named, texts, count = _compared(handed_in.paths, chosen)
    except CourseError as error:
        typer.echo(f"minigrad: {error}", err=True)
        raise typer.Exit(2) from None
    if form == "terminal" and out is None:
        _show(Console(highlight=False), found, named, count)
        return
    text = as_html(found, named, chosen, texts) if form == "html" else as_csv(found, named)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


def _compared(paths: list[Path], chosen: list[Stage]
              ) -> tuple[list[Likeness], Named, Texts, int]:
    """Compare submissions; return also their signs, their texts, and the number of answers."""
    found: list[Likeness] = []
    named: list[tuple[str, str, Sign]] = []
    texts: Texts = {}
    check_existence(paths)
    names, count = labels(paths), 0
    for stage in chosen:
        taken = {name: files_of(path, stage) for name, path in zip(names, paths, strict=True)}
        taken = {name: each for name, each in taken.items() if each.texts}
        count += len(taken)
        read = dict(zip(taken, read_all([*taken.values()]), strict=True))
        texts[stage.number] = {name: each.texts for name, each in read.items()}
        found += compare_answers(stage, {name: each.answers for name, each in read.items()
                                         if each.answers is not None})
        for name, each in read.items():
            named += [(stage.number, name, sign) for sign in each.signs]
            if each.problem:
                path = next(iter(taken[name].texts))
                named.append((stage.number, name, Sign(f"cannot be compared: {each.problem}",
                                                       path, 1)))
    return found, named, texts, count


def _show(console: Console, found: list[Likeness], named: Named, count: int) -> None:
    if found:
        table = Table("stage", "one", "other", "share", "in common", "exercises", box=None,
                      pad_edge=False)
        for each in found:
            whole = each.whole
            table.add_row(each.stage, escape(one_line(each.one)), escape(one_line(each.other)),
                          f"{whole.part:.0%}", f"{whole.common:.0f} of {whole.of:.0f}",
                          exercises(each).replace(" %", "\N{NO-BREAK SPACE}%"))
        console.print(table)
    for stage, name, sign in named:
        console.print(f"{stage} {escape(one_line(name))}: {escape(str(sign))}", soft_wrap=True)
    console.print(f"{len(found) + len(named)} to check among {count} answers")
