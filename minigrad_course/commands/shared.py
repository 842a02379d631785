"""The parts that commands share: the console, the option `--dir`, errors in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..content.stages import CourseError

__all__ = ["Where", "console", "in_one_sentence"]

Where = Annotated[
    Path | None, typer.Option("--dir", help="The workspace; by default the one you are in.")
]


def in_one_sentence(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command say what is wrong in one sentence, and exit with 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except CourseError as error:
            typer.echo(f"minigrad: {error}", err=True)
            raise typer.Exit(2) from None

    return wrapped


def console() -> Console:
    """Return the console for everything that is said."""
    return Console(highlight=False)
