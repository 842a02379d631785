"""Print long sentences without breaking a word in two."""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

__all__ = ["print_indented", "print_wrapped"]


def print_indented(console: Console, text: str, by: int) -> None:
    """Print text in Rich's markup, with each line indented by `by` columns.

    >>> print_indented(Console(width=12), "one two three", 4)
        one two
        three
    """
    for line in Text.from_markup(text).wrap(console, max(console.width - by, 1)):
        line.rstrip()
        console.print(Text(" " * by) + line)


def print_wrapped(console: Console, text: str, style: str = "") -> None:
    """Print text in Rich's markup, and begin a new line between words at the terminal's edge.

    A word that is longer than a line, such as a path, stays whole, because one that contains a
    newline can't be copied.  Lines after the first are indented like the first.  In a pipe or a
    file, the lines aren't wrapped.

    >>> print_wrapped(Console(width=20, force_terminal=True),
    ...               "  read /a/very/long/path/to/a_file.py first")
      read
      /a/very/long/path/to/a_file.py
      first
    """
    if not console.is_terminal:
        console.print(text, style=style, soft_wrap=True)
        return
    for whole in Text.from_markup(text).split("\n", allow_blank=True):
        indent = len(whole.plain) - len(whole.plain.lstrip(" "))
        sentence = whole[indent:]
        for line in sentence.divide(_line_starts(sentence.plain, console.width - indent)):
            line.rstrip()
            console.print(Text(" " * indent) + line, style=style, soft_wrap=True)


def _line_starts(plain: str, width: int) -> list[int]:
    """Return where the lines after the first begin, if each holds as many words as fit.

    Rich's own wrapping folds or crops a word that is longer than a line.
    """
    starts, used = [], 0
    for word in re.finditer(r"\S+\s*", plain):
        if used and used + cell_len(word[0].rstrip()) > width:
            starts.append(word.start())
            used = 0
        used += cell_len(word[0])
    return starts
