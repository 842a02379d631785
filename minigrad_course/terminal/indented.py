"""Print long sentences with every line indented."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

__all__ = ["print_indented"]


def print_indented(console: Console, text: str, by: int) -> None:
    """Print text in Rich's markup, with each line indented by `by` columns.

    >>> print_indented(Console(width=12), "one two three", 4)
        one two
        three
    """
    for line in Text.from_markup(text).wrap(console, max(console.width - by, 1)):
        line.rstrip()
        console.print(Text(" " * by) + line)
