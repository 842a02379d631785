"""`minigrad similarity`: who copied from the package, and who from whom."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..grading.intake import take_in
from ..naming import stages_named
from ..stages import CourseError, Stage, stages
from .compare import Likeness, compare
from .pages import Texts, as_csv, as_html, exercises

app = typer.Typer()
FORMATS = ("terminal", "csv", "html")


@app.command()
def similarity(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders that were handed in.")],
    stage: Annotated[
        list[str] | None, typer.Option("--stage", help="A stage to compare; may be repeated.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help=" | ".join(FORMATS))] = "terminal",
    out: Annotated[
        Path | None, typer.Option("--out", help="A file for the result, instead of the terminal.")
    ] = None,
) -> None:
    """Report answers that are too much like the package's source or like each other.

    Comments, layout and names are passed over, and so is what the exercise or its task gives. It
    says where to look, and proves nothing: look at the marked lines of --format html.

    \b
    Examples:
      minigrad similarity class/*
      minigrad similarity class/* --stage 03 --format html --out alike.html
    """
    try:
        if form not in FORMATS:
            raise CourseError(f"--format {form}: there are {', '.join(FORMATS)}")
        chosen = stages_named(",".join(stage)) if stage else [
            each for each in stages() if each.holes]
        found, texts, count = _compared(paths, chosen)
    except CourseError as error:
        typer.echo(f"minigrad: {error}", err=True)
        raise typer.Exit(2) from None
    if form == "terminal" and out is None:
        _show(Console(highlight=False), found, count)
        return
    text = as_html(found, chosen, texts) if form == "html" else as_csv(found)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


def _compared(paths: list[Path], chosen: list[Stage]) -> tuple[list[Likeness], Texts, int]:
    """Compare what was handed in; return also the texts and how many answers there were."""
    names = [path.name or str(path) for path in paths]
    labels = [name if names.count(name) == 1 else str(path)
              for name, path in zip(names, paths, strict=True)]
    found: list[Likeness] = []
    texts: Texts = {}
    for stage in chosen:
        taken = {label: take_in(path, stage).texts
                 for label, path in zip(labels, paths, strict=True)}
        texts[stage.number] = {label: each for label, each in taken.items() if each}
        found += compare(stage, texts[stage.number])
    return found, texts, sum(map(len, texts.values()))


def _show(console: Console, found: list[Likeness], count: int) -> None:
    if found:
        table = Table("stage", "one", "other", "share", "tokens", "exercises", box=None,
                      pad_edge=False)
        for each in found:
            whole = each.whole
            table.add_row(each.stage, escape(each.one), escape(each.other), f"{whole.part:.0%}",
                          f"{whole.common} of {whole.of}", exercises(each))
        console.print(table)
    console.print(f"{len(found)} to look at among {count} answers")
