"""`minigrad lesson`: read a lesson in the terminal."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..content.selection import stages_named
from ..content.stages import CourseError
from ..learner.own_engine import own_engine
from ..learner.workspace import find_workspace
from ..terminal.lesson_reader import read_lesson

app = typer.Typer()


@app.command()
def lesson(
    what: Annotated[str, typer.Argument(metavar="STAGE", help="A stage, such as 05.")],
    mine: Annotated[
        bool, typer.Option("--mine", help="Run the blocks on your own engine: the stages you have "
                                          "solved, and your solved exercises of this one.")
    ] = False,
    run: Annotated[
        bool, typer.Option("--run", help="Run every block without stopping.")
    ] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Also show the answers.")
    ] = False,
    begin: Annotated[
        int, typer.Option("--from", metavar="SECTION", help="Begin with this section; earlier code "
                                                            "runs without being shown.")
    ] = 1,
    where: Annotated[
        Path | None, typer.Option("--dir", help="Your workspace; by default the one you are in.")
    ] = None,
) -> None:
    """Read a lesson in the terminal: run its code block by block, and reveal answers when you ask.

    In a pipe or a file, prints the whole lesson with its stored output, without stopping.

    \b
    Examples:
      minigrad lesson 05
      minigrad lesson 05 --mine
      minigrad lesson 05 --from 3
      minigrad lesson 05 | less
    """
    console: Any = Console(highlight=False)
    try:
        stage, *more = stages_named(what)
        if more:
            names = ", ".join(each.number for each in (stage, *more))
            raise CourseError(f"lesson takes one stage: name one of {names}")
        engine = None
        if mine:
            engine = partial(own_engine, find_workspace(where), stage)
            if not engine()[0]:
                console.print(
                    "[dim]nothing is solved yet, so this runs on the package's code only[/]")
        status = read_lesson(console, stage, engine, run, answers, begin)
    except CourseError as error:
        typer.echo(f"minigrad: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(status)
