"""A lesson's text: its blocks of code, filled from the package and from what they print.

A comment on the line before a fence says what the block is:

    <!-- pull: engine/engine.py:execute -->   filled with that symbol of the package
    <!-- show: op/apply.py:wrap -->            the same, of any file: code that is given
    <!-- draft -->                              a simpler version, which a later pull replaces
    <!-- raises: RuntimeError -->               runs, and has to raise that
    <!-- not run: timing -->                    shown only (timing, gpu, torch or heavy)
    <!-- output -->                             what the block before printed; made, not written
    <!-- rest: engine/engine.py -->           what was not pulled; made, up to <!-- /rest -->
    <!-- picture: two_paths -->                 drawn by that function of
                                                lessons/pictures/NN_name.py; made, up to
                                                <!-- /picture -->
    <!-- widget: nudge f=cube -->               a picture to play with, on the site alone: one of
                                                site/widgets, with how it begins
    <!-- predict -->                            before a block that runs, and before its comment:
                                                readers guess what it prints, so that is folded
    <!-- predict: 24 40 | both -->              the same, with short answers that are right too

A block of Python without a comment runs, all blocks of a lesson in one namespace.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..stages import CourseError, Stage
from .source import Definition, Module, first_sentence, module, names_of, symbols

#: How a lesson begins, so that nobody edits what is made.
_MADE_BY = "<!-- Made by `minigrad dev build`"
MADE = (f"{_MADE_BY}: the code below each `pull`, the text below each `output`, each `rest`, each "
        "`picture`. Edit the others. -->\n")

_COMMENT = re.compile(
    r"<!-- (pull|show|draft|raises|not run|output|rest|picture|widget|predict)(?:: (.*?))? -->$")
#: How an output is folded that readers are to predict.
PREDICT = "Predict first, then look"
_FOLD = (f'<details markdown="1">\n<summary>{PREDICT}</summary>\n\n', "\n\n</details>")
_WHY_NOT = ("timing", "gpu", "torch", "heavy")


@dataclass
class Block:
    """A piece of a lesson: text, or a fence and its properties."""

    kind: str  # text, run, draft, raises, pull, show, not run, rest, picture, widget, other
    text: str  # without the fence's lines
    detail: str = ""  # the comment's part after the colon
    fence: str = ""  # the fence's first line
    printed: str | None = None  # the text of the output block after it
    predicted: bool = False  # whether that is folded, for readers to guess it first
    answers: tuple[str, ...] = ()  # short guesses that are right, besides what is printed
    result: dict[str, str] = field(default_factory=dict)  # output and errors of the last run

    @property
    def runs(self) -> bool:
        """Whether the block is executed."""
        return self.kind in ("run", "draft", "raises")


def parse(text: str, name: str) -> list[Block]:
    """Cut a lesson into blocks; CourseError for a fence or a comment out of place."""
    lines, blocks, place = text.splitlines(), [], int(text.startswith(_MADE_BY))
    plain: list[str] = []
    predicted = False
    answers: tuple[str, ...] = ()

    def flush() -> None:
        if plain:
            blocks.append(Block("text", "\n".join(plain)))
            plain.clear()

    def fence(start: int) -> tuple[str, str, int]:
        if start >= len(lines) or not lines[start].startswith("```"):
            raise CourseError(f"{name}:{start + 1}: expected a block of code here")
        marks = re.match("`+", lines[start])
        assert marks is not None
        end = next((i for i in range(start + 1, len(lines)) if lines[i] == marks[0]), None)
        if end is None:
            raise CourseError(f"{name}:{start + 1}: the block does not end")
        return lines[start], "\n".join(lines[start + 1 : end]), end + 1

    while place < len(lines):
        line = lines[place]
        comment = _COMMENT.match(line)
        if comment is None and not line.startswith("```"):
            plain.append(line)
            place += 1
            continue
        if comment is None:
            flush()
            first, code, place = fence(place)
            blocks.append(Block("run" if first == "```python" else "other", code, fence=first,
                                predicted=predicted, answers=answers))
            _check_predicted(blocks[-1], f"{name}:{place}")
            predicted, answers = False, ()
            continue
        kind, detail = comment[1], comment[2] or ""
        if kind == "predict":
            flush()
            predicted = True
            answers = tuple(filter(None, map(str.strip, detail.split("|"))))
            place += 1
            continue
        if kind == "widget":
            flush()
            blocks.append(Block(kind, "", detail))
            place += 1
            continue
        if kind in ("rest", "picture"):
            flush()
            end = _end_of(kind, lines, place)
            blocks.append(Block(kind, "\n".join(lines[place + 1 : end]), detail))
            place = end + 1
            continue
        if kind == "output":
            folded = lines[place + 1 : place + 2] == _FOLD[0].splitlines()[:1]
            _, code, place = fence(place + (4 if folded else 1))
            place += 2 * folded
            while plain and not plain[-1]:
                plain.pop()
            if plain or not blocks or not blocks[-1].runs:
                raise CourseError(f"{name}:{place}: output follows right after a block that runs")
            blocks[-1].printed = code
            continue
        flush()
        if kind == "not run" and detail not in _WHY_NOT:
            raise CourseError(f"{name}:{place + 1}: not run because of one of {_WHY_NOT}")
        first, code, place = fence(place + 1)
        blocks.append(Block(kind, code, detail, first, predicted=predicted, answers=answers))
        _check_predicted(blocks[-1], f"{name}:{place}")
        predicted, answers = False, ()
    flush()
    return blocks


def _end_of(kind: str, lines: list[str], start: int) -> int:
    """Return the line that ends what is made from `start` on; `start` if it was not made yet."""
    for place in range(start + 1, len(lines)):
        if lines[place] == f"<!-- /{kind} -->":
            return place
        if _COMMENT.match(lines[place]):
            break
    return start


def _check_predicted(block: Block, where: str) -> None:
    if block.predicted and not block.runs:
        raise CourseError(f"{where}: only the output of a block that runs can be predicted")


def fill(blocks: list[Block], stage: Stage) -> None:
    """Put the package's code into pulls and what is printed into outputs."""
    pulled: set[str] = set()
    for block in blocks:
        if block.kind in ("pull", "show"):
            path, _, symbol = block.detail.partition(":")
            if block.kind == "pull" and path not in stage.modules:
                raise CourseError(f"{stage.key}: {path} is not a module of this stage")
            if block.detail in pulled:
                raise CourseError(f"{stage.key}: {block.detail} is pulled twice")
            pulled.add(block.detail)
            source = module(stage.package, path)
            block.text = source.cut(source.find(symbol))
    rests = [block.detail for block in blocks if block.kind == "rest"]
    if sorted(rests) != sorted(stage.modules):
        raise CourseError(f"{stage.key}: the lesson needs one rest of each of {stage.modules}, "
                          f"but has {rests}")
    fill_rests(blocks, stage, in_repository)
    fill_pictures(blocks, stage)
    run(blocks, stage)


def fill_rests(blocks: list[Block], stage: Stage, address: Callable[[str], str]) -> None:
    """Write each rest: a link to the file, whose address `address` gives, and its symbols.

    An empty address gives the file's name without a link.
    """
    for block in blocks:
        if block.kind == "rest":
            path = block.detail
            pulled = [each.detail.partition(":")[2] for each in blocks
                      if each.kind in ("pull", "show") and each.detail.startswith(f"{path}:")]
            block.text = _rest(module(stage.package, path), pulled, address(path))


def fill_pictures(blocks: list[Block], stage: Stage) -> None:
    """Draw the pictures, and write each with its text and caption; `result` holds the SVG."""
    wanted = [block for block in blocks if block.kind == "picture"]
    drawn = draw(stage, [block.detail for block in wanted])
    for block in wanted:
        block.result = drawn[block.detail]
        alt = re.sub(r"([\[\]])", r"\\\1", block.result["alt"])
        block.text = (f"![{alt}](pictures/{picture_file(stage, block.detail).name})\n\n"
                      f"*{block.result['caption']}*")


def draw(stage: Stage, names: list[str]) -> dict[str, dict[str, str]]:
    """Run functions of a stage's file of pictures, in a process of their own.

    Each gives the SVG, the text for those who do not see it, and the caption.
    """
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise CourseError(f"{stage.key}: the picture {repeated[0]} is drawn twice")
    if not names:
        return {}
    done = subprocess.run([sys.executable, "-m", "minigrad_course.dev.draw", str(stage.pictures),
                           stage.number, *names], text=True, capture_output=True, check=False,
                          env=_environment(stage), cwd=stage.root, timeout=900)
    if done.returncode:
        raise CourseError(f"{stage.key}: a picture was not drawn:\n{done.stderr}")
    drawn: dict[str, dict[str, str]] = json.loads(done.stdout)
    return drawn


def picture_file(stage: Stage, name: str) -> Path:
    """Return where a picture of a stage lies."""
    return stage.pictures.parent / f"{stage.number}_{name}.svg"


def picture_words(block: Block) -> tuple[str, str]:
    """Return the text and the caption of a picture that has been made, ("", "") if it has not."""
    found = re.fullmatch(r"!\[(.*)\]\([^)]*\)\n\n\*(.*)\*", block.text, re.DOTALL)
    return (re.sub(r"\\([\[\]])", r"\1", found[1]), found[2]) if found else ("", "")


def _environment(stage: Stage) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(stage.root), "PYTHONHASHSEED": "0",
            "NO_COLOR": "1", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}


def in_repository(path: str) -> str:
    """Return the address of a module of the package, seen from a lesson or a notebook."""
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
    """Return a symbol with the first sentence of its docstring or `#:` comment, else its value."""
    if isinstance(node, Definition):
        told = first_sentence(ast.get_docstring(node) or "")
    else:
        told = first_sentence(source.comment(node))
        text = ast.unparse(node)
        if not told and len(text) < 60 and names_of(node) == [symbol]:
            return f"`{text}`"
    return f"`{symbol}`: {told}" if told else f"`{symbol}`"


def run(blocks: list[Block], stage: Stage) -> None:
    """Execute the blocks that run, in one namespace of a fresh process, and keep what they give.

    CourseError for a block that raises what it should not, or does not raise what it should.
    """
    running = [block for block in blocks if block.runs]
    done = subprocess.run([sys.executable, "-m", "minigrad_course.child_process.code_blocks"],
                          input=json.dumps([block.text for block in running]), text=True,
                          capture_output=True, env=_environment(stage), cwd=stage.root, check=False,
                          timeout=900)
    if done.returncode:
        raise CourseError(f"{stage.key}: the lesson's code ended the process:\n{done.stderr}")
    for block, result in zip(running, json.loads(done.stdout), strict=True):
        raised = result["error"].partition(":")[0]
        if raised != (block.detail if block.kind == "raises" else ""):
            wanted = f"raise {block.detail}" if block.kind == "raises" else "not raise"
            raise CourseError(f"{stage.key}: this block should {wanted}, but gave "
                              f"{result['traceback'] or 'no error'}\n"
                              f"{textwrap.indent(block.text, '    ')}")
        block.result = result
        given = result["printed"] + result["value"] + result["error"]
        block.printed = given.rstrip("\n") or None


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
