"""The answers in a workspace, each under the symbol that it defines.

NOTE [Answers follow their symbols]
    A new edition may give an exercise another number, put it into another stage or file, split it,
    or hand out its code.  The files as they were handed out tell which number stood for which
    symbols, for each unwritten body raises an error that begins with its number.  So `upgrade`
    needs no table of numbers: an answer is found under its symbol ("path/in/package.py:name") and
    goes where the new edition has that symbol.  A symbol with another name or file stands in
    `moved_files.py`.

If the words of a task change in an exercise that is solved already, both sides changed the same
lines, and a merge would call that a conflict.  So the answers are put in before it is made.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from .dev.source import Module, body_span
from .moved_files import earlier_symbols
from .stages import CourseError, Stage

__all__ = ["Answers", "path_in_package", "with_answers"]

_UNWRITTEN = re.compile(r'NotImplementedError\("(\w+\.\d+) .* is yours to write"\)')
_HEADER = re.compile(r"# Stage .*: the exercise for minigrad/(.+\.py)\.$", re.MULTILINE)


class Answers:
    """The bodies that a learner wrote, and the numbers that their exercises had.

    `numbers` has the symbols of each exercise as it was handed out, `bodies` the lines of the
    answers by symbol, `files` the file of each answer.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, list[str]] = {}
        self.bodies: dict[str, list[str]] = {}
        self.files: dict[str, Path] = {}

    def read(self, path: str, handed_out: str, mine: str, file: Path) -> None:
        """Add those of one exercise file; one that is no Python has none."""
        try:
            shipped = Module.from_text(path, handed_out)
        except (SyntaxError, ValueError):
            return
        try:
            written = Module.from_text(path, mine)
        except (SyntaxError, ValueError):
            written = None
        for symbol, (number, _, _) in _unwritten(shipped).items():
            if not number.endswith(".0"):  # it belongs to no exercise, in a file from scratch
                self.numbers.setdefault(number, []).append(f"{path}:{symbol}")
            if written is None:
                continue
            try:
                begin, end = body_span(written, written.function(symbol))
            except CourseError:
                continue  # the learner renamed or deleted it
            body = written.lines[begin - 1 : end]
            if not any(map(_UNWRITTEN.search, body)):
                self.bodies[f"{path}:{symbol}"] = body
                self.files[f"{path}:{symbol}"] = file

    def of_module(self, path: str, symbols: Iterable[str], file: Path | None = None
                  ) -> dict[str, list[str]]:
        """Return the answers to symbols of a module, also those that had another place before.

        With `file` only answers that stand in this file.
        """
        found = {}
        for symbol in symbols:
            for place in earlier_symbols(f"{path}:{symbol}"):
                if place in self.bodies and file in (None, self.files[place]):
                    found[symbol] = self.bodies[place]
                    break
        return found


def with_answers(text: str, path: str, answers: Answers, file: Path | None = None) -> str:
    """Return `text`, the module at `path`, with the answers in the place of unwritten bodies.

    Exercises without an answer stay as they are, and so does a text that is no Python.  With
    `file` only answers that stand in this file.
    """
    try:
        module = Module.from_text(path, text)
    except (SyntaxError, ValueError):
        return text
    lines, unwritten = module.lines, _unwritten(module)
    found = answers.of_module(path, unwritten, file)
    for symbol, (_, (first, last), indent) in reversed(unwritten.items()):
        if symbol in found:
            lines[first - 1 : last] = _indented(found[symbol], indent)
    return "\n".join(lines) + "\n"


def path_in_package(text: str, place: Path, known: Mapping[Path, str]) -> str:
    """Return which module a file that was handed out is for.

    `known` has the modules of today's stages by their places.  Elsewhere the place inside the
    stage's folder tells, and for a stage of one file its first line.
    """
    if place in known:
        return known[place]
    found = _HEADER.search(text)
    return found[1] if found and len(place.parts) == 1 else Path(*place.parts[1:]).as_posix()


def places(stages: list[Stage]) -> dict[Path, str]:
    """Return the place of each exercise inside a workspace's `exercises/`, and its module."""
    return {stage.exercise(path, Path()): path for stage in stages for path in stage.modules}


def _unwritten(module: Module) -> dict[str, tuple[str, tuple[int, int], int]]:
    """Return number, lines and indent of each body that is still to be written, by symbol."""
    found = {}
    for symbol, function in module.functions():
        try:
            first, last = body_span(module, function)
        except CourseError:
            continue  # a docstring alone
        for line in module.lines[first - 1 : last]:
            if (told := _UNWRITTEN.search(line)) is not None:
                found[symbol] = (told[1], (first, last), function.col_offset + 4)
    return found


def _indented(body: list[str], indent: int) -> list[str]:
    """Return a body that stood deeper, or less deep, with this indent."""
    first = next((line for line in body if line.strip()), "")
    if len(first) - len(first.lstrip()) == indent:
        return body
    return textwrap.indent(textwrap.dedent("\n".join(body)), " " * indent).splitlines()
