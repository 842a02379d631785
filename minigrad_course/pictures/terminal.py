"""A learner's screen that fills up line by line: code is typed and saved, commands print.

NOTE [A picture that moves]
    CSS moves it, so it plays wherever an SVG is shown as an image, without a script. Without the
    animation every line is visible: a reader who prefers reduced motion sees the last moment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .drawing import TEXT, Drawing, number

__all__ = ["Command", "Edit", "Output", "terminal"]

#: Width of a character of the fonts for code, and height of a line.
CHARACTER, LINE = 0.602 * TEXT, 20
#: Seconds: per typed character, before and after typing, and for the last moment.
TYPING, PAUSE, LAST = 0.05, 0.5, 8.0
#: Words that have a colour where a line begins with them.
STATUS = {"wrong": "wrong", "solved": "right"}


@dataclass(frozen=True)
class Edit:
    """A line that is typed into a file and saved."""

    file: str
    line: str


@dataclass(frozen=True)
class Command:
    """A command that is typed."""

    text: str


@dataclass(frozen=True)
class Output:
    """The lines that a command prints, and how many seconds it takes to read them."""

    lines: Sequence[str]
    seconds: float = 0.0


def terminal(steps: Sequence[Edit | Command | Output], columns: int) -> tuple[Drawing, str]:
    """Return the screen after all steps, and the style sheet that shows them one by one."""
    made, y, now = Drawing().room(columns * CHARACTER, 0), 0.0, PAUSE
    shown: list[float] = []
    typed: list[tuple[float, float, int]] = []

    def appear() -> None:
        made.shapes.append(f'<g class="step at{len(shown)}">')
        shown.append(now)

    def cover(text: str, x: float, kind: str) -> None:
        """Hide a text; the cover shrinks while the text is typed."""
        nonlocal now
        made.shapes.append(f'<rect class="cover typed{len(typed)} {kind}" x="{number(x)}" '
                           f'y="{number(y)}" width="{number((len(text) + 1) * CHARACTER)}" '
                           f'height="{LINE}"/>')
        typed.append((now, now + TYPING * len(text), len(text)))
        now += TYPING * len(text) + PAUSE

    for step in steps:
        appear()
        match step:
            case Edit(file, line):
                y += LINE / 2 if y else 0
                made.box(0, y, columns * CHARACTER, 2.4 * LINE, "plain")
                made.text(CHARACTER, y + LINE / 2 + 2, file, "muted", "start", TEXT - 1)
                y += 1.15 * LINE
                _line(made, y, line, 1)
                cover(line, CHARACTER, "plain")
                y += 1.25 * LINE + LINE / 4
            case Command(text):
                made.text(0, y + LINE / 2, "$", "code muted", "start")
                _line(made, y, text, 2)
                cover(text, 2 * CHARACTER, "sheet")
                y += LINE
            case Output(lines, seconds):
                for line in lines:
                    _line(made, y, line, 0)
                    y += LINE
                now += PAUSE + seconds
        made.shapes.append("</g>")
    return made.room(0, y), _style(shown, typed, now + LAST)


def _line(drawing: Drawing, y: float, line: str, column: int) -> None:
    """Add a line of code; spaces that SVG would swallow become room."""
    for word in re.finditer(r"\S+(?: \S+)*", line):
        kind = STATUS.get(word[0], "") if word.start() == 0 else ""
        x = (column + word.start()) * CHARACTER
        drawing.text(x, y + LINE / 2, word[0], f"code strong {kind}" if kind else "code", "start")


def _style(shown: Sequence[float], typed: Sequence[tuple[float, float, int]],
           length: float) -> str:
    """Return the rules that move the picture."""
    def percent(seconds: float) -> str:
        return f"{100 * seconds / length:.2f}%"

    rules = [f".step,.cover{{animation:{length:.1f}s infinite}}",
             ".step{animation-timing-function:step-end}",
             ".cover{transform-box:fill-box;transform-origin:right;transform:scaleX(0)}"]
    for place, begin in enumerate(shown[1:], 1):  # the first step is there from the start
        rules.append(f".at{place}{{animation-name:at{place}}}"
                     f"@keyframes at{place}{{0%{{opacity:0}}{percent(begin)}{{opacity:1}}}}")
    for place, (begin, end, characters) in enumerate(typed):
        rules.append(
            f".typed{place}{{animation-name:typed{place}}}@keyframes typed{place}{{"
            f"0%{{transform:scaleX(1)}}{percent(begin)}{{transform:scaleX(1);"
            f"animation-timing-function:steps({characters})}}"
            f"{percent(end)}{{transform:scaleX(0)}}}}")
    rules.append("@media (prefers-reduced-motion:reduce){.step,.cover{animation:none}}")
    return "".join(rules)
