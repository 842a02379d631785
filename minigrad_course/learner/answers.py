"""Find the answers in an exercise file, and move them into a newer version of that file.

NOTE [Answers follow their symbols]
    A newer course may renumber an exercise or reword it.  The file as it was handed out shows which
    bodies the learner had to write, because each of them raised an error that begins with the
    exercise's number.  So an answer is the learner's body of such a function, and `upgrade` puts it
    where the newer file leaves the same function to be written.

If the task of a solved exercise is reworded, both sides changed the same lines, and a merge would
call that a conflict.  So the answers are inserted before the merge.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from ..content.source import Module, body_span
from ..content.stages import CourseError

__all__ = ["answers_in", "with_answers"]

_UNWRITTEN = re.compile(r'NotImplementedError\("\w+\.\d+ .* is yours to write"\)')


def answers_in(path: str, handed_out: str, learners: str) -> dict[str, list[str]]:
    """Return the lines of each body that the learner wrote, by symbol.

    `handed_out` is the original text of the exercise for the module at `path`, and `learners` is
    the learner's version.  Text that is not Python has no answers.
    """
    try:
        shipped = Module.from_text(path, handed_out)
        written = Module.from_text(path, learners)
    except (SyntaxError, ValueError):
        return {}
    found = {}
    for symbol in _unwritten(shipped):
        try:
            first, last = body_span(written, written.function(symbol))
        except CourseError:
            continue  # the learner renamed or deleted it
        body = written.lines[first - 1 : last]
        if not any(map(_UNWRITTEN.search, body)):
            found[symbol] = body
    return found


def with_answers(text: str, path: str, answers: Mapping[str, list[str]]) -> str:
    """Return `text`, the module at `path`, with each unwritten body replaced with its answer.

    Bodies without an answer stay unchanged, and so does text that is not Python.
    """
    try:
        module = Module.from_text(path, text)
    except (SyntaxError, ValueError):
        return text
    lines = module.lines
    for symbol, ((first, last), indent) in reversed(_unwritten(module).items()):
        if symbol in answers:
            lines[first - 1 : last] = _indented(answers[symbol], indent)
    return "\n".join(lines) + "\n"


def _unwritten(module: Module) -> dict[str, tuple[tuple[int, int], int]]:
    """Return the lines and the indent of each unwritten body, by symbol."""
    found = {}
    for symbol, function in module.functions():
        try:
            first, last = body_span(module, function)
        except CourseError:
            continue  # only a docstring
        if any(map(_UNWRITTEN.search, module.lines[first - 1 : last])):
            found[symbol] = ((first, last), function.col_offset + 4)
    return found


def _indented(body: list[str], indent: int) -> list[str]:
    """Return a body shifted to this indent."""
    first = next((line for line in body if line.strip()), "")
    if len(first) - len(first.lstrip()) == indent:
        return body
    return textwrap.indent(textwrap.dedent("\n".join(body)), " " * indent).splitlines()
