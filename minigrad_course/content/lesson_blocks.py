"""Parse the text of a lesson into blocks, and render blocks as text again.

A comment on the line before a fence gives the kind of the block:

    <!-- pull: engine/engine.py:execute -->   filled with that symbol of the package
    <!-- show: op/apply.py:wrap -->            the same, for code that is given, from any file
    <!-- draft -->                              a simpler version, which a later pull replaces
    <!-- raises: RuntimeError -->               runs, and must raise that error
    <!-- not run: timing -->                    only shown (timing, gpu, torch or heavy)
    <!-- output -->                             what the block before printed; generated
    <!-- rest: engine/engine.py -->           the rest of the file; generated, up to <!-- /rest -->
    <!-- picture: two_paths -->                 drawn by that function of
                                                lessons/pictures/NN_name.py; generated, up to
                                                <!-- /picture -->
    <!-- widget: nudge f=cube -->               an interactive picture, only on the site: one of
                                                site/widgets, with its initial values
    <!-- predict -->                            before a block that runs, and before its comment:
                                                readers guess its output, which is folded away
    <!-- predict: 24 40 | both -->              the same, with short answers that are right too

A Python block without a comment runs; all blocks of a lesson share one namespace.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .source import Definition, Module, first_sentence, module, names_of, symbols
from .stages import CourseError, Stage

#: The first line of a lesson, a warning not to edit generated parts.
_MADE_BY = "<!-- Made by `minigrad dev build`"
MADE = (f"{_MADE_BY}: the code below each `pull`, the text below each `output`, each `rest` and "
        "each `picture`. Edit only the other parts. -->\n")

_COMMENT = re.compile(
    r"<!-- (pull|show|draft|raises|not run|output|rest|picture|widget|predict)(?:: (.*?))? -->$")
#: How to fold an output that readers should predict.
PREDICT = "Predict first, then look"
_FOLD = (f'<details markdown="1">\n<summary>{PREDICT}</summary>\n\n', "\n\n</details>")
_WHY_NOT = ("timing", "gpu", "torch", "heavy")


@dataclass
class Block:
    """A part of a lesson: text, or a fence and its properties."""

    kind: str  # text, run, draft, raises, pull, show, not run, rest, picture, widget, other
    text: str  # without the fence's first and last line
    detail: str = ""  # the comment's part after the colon
    fence: str = ""  # the fence's first line
    printed: str | None = None  # the text of the output block after it
    predicted: bool = False  # whether the output is folded away, for readers to guess it first
    answers: tuple[str, ...] = ()  # short guesses that are right, besides the printed text
    result: dict[str, str] = field(default_factory=dict)  # output and errors of the last run

    @property
    def runs(self) -> bool:
        """Whether the block is executed."""
        return self.kind in ("run", "draft", "raises")


def parse(text: str, name: str) -> list[Block]:
    """Split a lesson into blocks; raise CourseError for a fence or comment out of place."""
    lines, blocks, row = text.splitlines(), [], int(text.startswith(_MADE_BY))
    plain: list[str] = []
    predicted = False
    answers: tuple[str, ...] = ()

    def flush() -> None:
        if plain:
            blocks.append(Block("text", "\n".join(plain)))
            plain.clear()

    def fence(start: int) -> tuple[str, str, int]:
        if start >= len(lines) or not lines[start].startswith("```"):
            raise CourseError(f"{name}:{start + 1}: expected a block of code")
        marks = re.match("`+", lines[start])
        assert marks is not None
        end = next((i for i in range(start + 1, len(lines)) if lines[i] == marks[0]), None)
        if end is None:
            raise CourseError(f"{name}:{start + 1}: the block has no closing fence")
        return lines[start], "\n".join(lines[start + 1 : end]), end + 1

    while row < len(lines):
        line = lines[row]
        comment = _COMMENT.match(line)
        if comment is None and not line.startswith("```"):
            plain.append(line)
            row += 1
            continue
        if comment is None:
            flush()
            first, code, row = fence(row)
            blocks.append(Block("run" if first == "```python" else "other", code, fence=first,
                                predicted=predicted, answers=answers))
            _check_predicted(blocks[-1], f"{name}:{row}")
            predicted, answers = False, ()
            continue
        kind, detail = comment[1], comment[2] or ""
        if kind == "predict":
            flush()
            predicted = True
            answers = tuple(filter(None, map(str.strip, detail.split("|"))))
            row += 1
            continue
        if kind == "widget":
            flush()
            blocks.append(Block(kind, "", detail))
            row += 1
            continue
        if kind in ("rest", "picture"):
            flush()
            end = _end_of(kind, lines, row)
            blocks.append(Block(kind, "\n".join(lines[row + 1 : end]), detail))
            row = end + 1
            continue
        if kind == "output":
            folded = lines[row + 1 : row + 2] == _FOLD[0].splitlines()[:1]
            _, code, row = fence(row + (4 if folded else 1))
            row += 2 * folded
            while plain and not plain[-1]:
                plain.pop()
            if plain or not blocks or not blocks[-1].runs:
                raise CourseError(f"{name}:{row}: an output must directly follow a block that runs")
            blocks[-1].printed = code
            continue
        flush()
        if kind == "not run" and detail not in _WHY_NOT:
            raise CourseError(f"{name}:{row + 1}: not run: {detail!r} is not one of {_WHY_NOT}")
        first, code, row = fence(row + 1)
        blocks.append(Block(kind, code, detail, first, predicted=predicted, answers=answers))
        _check_predicted(blocks[-1], f"{name}:{row}")
        predicted, answers = False, ()
    flush()
    return blocks


def _end_of(kind: str, lines: list[str], start: int) -> int:
    """Return the last line of the generated part from `start` on, or `start` if it is missing."""
    for row in range(start + 1, len(lines)):
        if lines[row] == f"<!-- /{kind} -->":
            return row
        if _COMMENT.match(lines[row]):
            break
    return start


def _check_predicted(block: Block, where: str) -> None:
    if block.predicted and not block.runs:
        raise CourseError(f"{where}: predict needs a block that runs")


def fill_rests(blocks: list[Block], stage: Stage, address: Callable[[str], str]) -> None:
    """Write each rest: the file's other symbols, with a link to the address from `address`.

    If the address is empty, the file's name is not a link.
    """
    for block in blocks:
        if block.kind == "rest":
            path = block.detail
            pulled = [each.detail.partition(":")[2] for each in blocks
                      if each.kind in ("pull", "show") and each.detail.startswith(f"{path}:")]
            block.text = _rest(module(stage.package, path), pulled, address(path))


def picture_file(stage: Stage, name: str) -> Path:
    """Return the path of a stage's picture."""
    return stage.pictures.parent / f"{stage.number}_{name}.svg"


def picture_words(block: Block) -> tuple[str, str]:
    """Return the text and the caption of a picture, or ("", "") if it was not drawn yet."""
    found = re.fullmatch(r"!\[(.*)\]\([^)]*\)\n\n\*(.*)\*", block.text, re.DOTALL)
    return (re.sub(r"\\([\[\]])", r"\1", found[1]), found[2]) if found else ("", "")


def in_repository(path: str) -> str:
    """Return the address of a module of the package, relative to a lesson or a notebook."""
    return f"../minigrad/{path}"


def _rest(source: Module, pulled: list[str], address: str) -> str:
    name = f"[`{source.path}`]({address})" if address else f"`{source.path}`"
    left = {symbol: node for symbol, node in symbols(source, pulled).items()
            if symbol not in pulled}
    if not left:
        return f"All of {name} is shown above."
    lines = [f"- {_described(source, symbol, node)}" for symbol, node in left.items()]
    return "\n".join([f"Besides the code above, {name} has:", "", *lines])


def _described(source: Module, symbol: str, node: ast.stmt) -> str:
    """Return a symbol with the first sentence of its docstring or `#:` comment, or its value."""
    if isinstance(node, Definition):
        told = first_sentence(ast.get_docstring(node) or "")
    else:
        told = first_sentence(source.comment(node))
        text = ast.unparse(node)
        if not told and len(text) < 60 and names_of(node) == [symbol]:
            return f"`{text}`"
    return f"`{symbol}`: {told}" if told else f"`{symbol}`"


def render(blocks: list[Block]) -> str:
    """Return the lesson's text."""
    parts: list[str] = []
    for block in blocks:
        if block.kind == "text":
            parts.append(block.text)
            continue
        if block.kind == "widget":
            parts.append(f"<!-- widget: {block.detail} -->")
            continue
        comment = {"run": "", "other": ""}.get(
            block.kind, f"<!-- {block.kind}{f': {block.detail}' if block.detail else ''} -->\n")
        if block.predicted:
            answers = f": {' | '.join(block.answers)}" if block.answers else ""
            comment = f"<!-- predict{answers} -->\n{comment}"
        if block.kind in ("rest", "picture"):
            parts.append(f"{comment}{block.text}\n<!-- /{block.kind} -->")
        else:
            ticks = re.match("`+", block.fence)
            assert ticks is not None
            body = f"{block.text}\n" if block.text else ""
            parts.append(f"{comment}{block.fence}\n{body}{ticks[0]}")
        if block.printed is not None and block.runs:
            before, after = _FOLD if block.predicted else ("", "")
            parts.append(f"\n<!-- output -->\n{before}```text\n{block.printed}\n```{after}")
    return "\n".join(parts) + "\n"


def taught_lines(blocks: list[Block]) -> int:
    """Count the lines of code that a lesson pulls into its text."""
    return sum(len(block.text.splitlines()) for block in blocks if block.kind == "pull")
