"""The code that commands share: the console, the `--dir` option, errors as one sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..content.stages import CourseError

__all__ = ["OwnExercises", "Where", "console", "in_one_sentence"]

Where = Annotated[
    Path | None, typer.Option("--dir", help="Your workspace; by default the one you are in.")
]
OwnExercises = Annotated[
    Path | None, typer.Option("--exercises", help="A folder with exercises outside the course.")
]


def in_one_sentence(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command to print a `CourseError` as one sentence and exit with 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except CourseError as error:
            typer.echo(f"minigrad: {error}", err=True)
            raise typer.Exit(2) from None

    return wrapped


def console() -> Console:
    """Return a console for the output of a command."""
    return Console(highlight=False)
