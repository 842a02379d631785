"""Answer an exercise in a notebook's cell: its functions without the file around them.

A cell holds each function of the exercise below a comment that says where the function belongs:

    # graph/node.py: Node.next_functions
    def next_functions(self):
        ...

An exercise with a single function needs no comment.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

from ..content.source import Function, Module
from ..content.stages import CourseError, Hole, Stage
from .package_answer import write_functions
from .workspace import Workspace

__all__ = ["cell_text", "functions_in_cell", "task_page", "write_cell"]

_PLACE = re.compile(r"^# (\S+\.py): ([\w.]+)[ \t]*$", re.MULTILINE)


def task_page(stage: Stage, hole: Hole) -> str:
    """Return an exercise's task in Markdown."""
    words = stage.words["hole"][hole.id]
    return f"**{hole.id} {words['title']}**\n\n```text\n{words['task'].strip()}\n```"


def cell_text(space: Workspace | None, stage: Stage, hole: Hole) -> str:
    """Return an exercise's functions as they are in a workspace, or as they are handed out."""
    parts = []
    for each in hole.symbols:
        path, _, symbol = each.partition(":")
        if space is None:
            source = Module.from_text(path, stage.handed_out(path))
        else:
            source = Module.read(space.files(stage)[path], path)
        parts.append(f"# {path}: {symbol}\n{source.cut(source.find(symbol))}")
    return "\n\n\n".join(parts) + "\n"


def functions_in_cell(hole: Hole, text: str) -> dict[str, str]:
    """Return the functions of a cell by "path:symbol"; raise CourseError if one is missing."""
    places = list(_PLACE.finditer(text))
    if not places and len(hole.symbols) == 1:
        sections = {hole.symbols[0]: text}
    else:
        ends = [*(each.start() for each in places), len(text)]
        sections = {f"{each[1]}:{each[2]}": text[each.end() : end]
                    for each, end in zip(places, ends[1:], strict=True)}
    if set(sections) != set(hole.symbols):
        wanted = ", ".join(f"`# {each.replace(':', ': ')}`" for each in hole.symbols)
        raise CourseError(f"a cell for {hole.id} needs each of these comments, with a function "
                          f"below: {wanted}; `%exercise {hole.id}` makes such a cell")
    for symbol, section in sections.items():
        _check_function(hole, symbol, section)
    return {symbol: section.strip("\n") for symbol, section in sections.items()}


def _check_function(hole: Hole, symbol: str, section: str) -> None:
    """Raise CourseError unless a section of a cell defines only the function."""
    name = symbol.rpartition(":")[2].rpartition(".")[2]
    try:
        body = ast.parse(section).body
    except SyntaxError as error:
        raise CourseError(f"the cell for {hole.id} is not valid Python: {error.msg}, in "
                          f"`{(error.text or '').strip()}`") from None
    if len(body) != 1 or not isinstance(body[0], Function) or body[0].name != name:
        raise CourseError(f"the cell for {hole.id} must define only {name}: put "
                          "helpers and imports into the function, or write the answer in the file")


def write_cell(space: Workspace, stage: Stage, hole: Hole, text: str) -> list[Path]:
    """Write the functions of a cell into the learner's files, with backups; return the files."""
    functions = {}
    for each, section in functions_in_cell(hole, text).items():
        path, _, symbol = each.partition(":")
        mine = Module.read(space.files(stage)[path], path)
        indent = " " * mine.find(symbol).col_offset
        functions[each] = textwrap.indent(textwrap.dedent(section), indent).splitlines()
    return [file for file, _ in write_functions(space, stage, functions)]
