"""Show a page of Markdown, run its code, and print the real output."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from textwrap import dedent
from typing import Any, NamedTuple

from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.text import Text

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Part(NamedTuple):
    """A part of a page: a heading, text, or code."""

    kind: str
    text: str


def parts(page: str) -> Iterator[Part]:
    """Split a page into headings (`## ...`), text and fenced Python.

    >>> [part.kind for part in parts("## A\\n\\nWords.\\n\\n```python\\nprint(1)\\n```\\n")]
    ['heading', 'text', 'code']
    """
    for number, piece in enumerate(FENCE.split(page)):
        if number % 2:
            yield Part("code", piece.rstrip())
            continue
        for paragraph in piece.split("\n\n"):
            text = paragraph.strip()
            if text.startswith("## "):
                yield Part("heading", text[3:])
            elif text:
                yield Part("text", text)


def play(console: Console, page: str, first: int = 1) -> int:
    """Show a page and run its code in one namespace; return the number for the next heading."""
    namespace: dict[str, Any] = {"__name__": "tour"}
    for part in parts(page):
        if part.kind == "heading":
            show_heading(console, first, part.text)
            first += 1
        elif part.kind == "text":
            show_text(console, part.text)
        else:
            show_code(console, part.text)
            show_output(console, execute(part.text, namespace))
    return first


def execute(code: str, namespace: dict[str, Any]) -> str:
    """Run code and return what it printed.

    >>> execute("x = 2\\nprint(x * 3)", {})
    '6\\n'
    """
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(code, "<the step above>", "exec"), namespace)
    return output.getvalue()


def show_heading(console: Console, number: int, text: str) -> None:
    """Show a numbered heading."""
    console.print()
    console.rule(f"[bold]{number}. {text}[/bold]", align="left")


def show_text(console: Console, text: str) -> None:
    """Show a paragraph of Markdown."""
    console.print()
    console.print(Markdown(text))


def show_code(console: Console, code: str) -> None:
    """Show code, in colour if the terminal supports it."""
    console.print()
    lines = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(
        dedent(code)
    )
    lines.rstrip()
    for line in lines.split(allow_blank=True):
        console.print(Text("    " if line else "") + line, soft_wrap=True)


def show_output(console: Console, output: str) -> None:
    """Show what code printed, set apart from the code."""
    if output:
        console.print()
    for line in output.splitlines():
        console.print(Text("  │ ", "dim") + Text(line, "green"), soft_wrap=True)
