"""Write an answer to an exercise into the learner's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..content.source import Module, module
from ..content.stages import CourseError, Hole, Stage
from .workspace import Workspace, replace_file

__all__ = ["write_answer", "write_functions"]


def write_answer(space: Workspace, stage: Stage, hole: Hole) -> list[tuple[Path, Path]]:
    """Replace the learner's functions with the package's; return the files and their backups.

    The rest of the file stays unchanged.  If a file is not Python or lacks a function, raises
    CourseError without changing any file.
    """
    functions = {}
    for each in hole.symbols:
        path, _, symbol = each.partition(":")
        theirs = module(stage.package, path)
        first, last = theirs.span(theirs.find(symbol))
        functions[each] = theirs.lines[first - 1 : last]
    return write_functions(space, stage, functions)


def write_functions(space: Workspace, stage: Stage, functions: Mapping[str, list[str]]
                    ) -> list[tuple[Path, Path]]:
    """Replace functions ("path:symbol" to its lines) in the learner's files, as `write_answer`."""
    files, texts = space.files(stage), {}
    for path in dict.fromkeys(each.partition(":")[0] for each in functions):
        try:
            mine = Module.read(files[path], path)
        except (SyntaxError, UnicodeDecodeError) as error:
            raise CourseError(f"cannot write the answer into {files[path]}, because it is not "
                              f"valid Python: {error}") from None
        lines = mine.lines
        spans = [(mine.span(mine.find(each.partition(":")[2])), new)
                 for each, new in functions.items() if each.partition(":")[0] == path]
        for (first, last), new in sorted(spans, reverse=True):
            lines[first - 1 : last] = new
        texts[path] = "\n".join(lines) + "\n"
    written = []
    for path, text in texts.items():
        copy = space.back_up(files[path])
        replace_file(files[path], text)
        written.append((files[path], copy))
    return written
