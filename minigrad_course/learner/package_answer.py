"""Write the package's answer to an exercise into the learner's file."""

from __future__ import annotations

from pathlib import Path

from ..content.source import Module, module, symbols_in
from ..content.stages import CourseError, Hole, Stage
from .workspace import Workspace, replace_file

__all__ = ["write_answer"]


def write_answer(space: Workspace, stage: Stage, hole: Hole) -> list[tuple[Path, Path]]:
    """Replace the learner's functions with the package's; return the files and their backups.

    The rest of the file stays unchanged.  If a file is not Python or lacks a function, raises
    CourseError without changing any file.
    """
    files, texts = space.files(stage), {}
    for path in stage.modules:
        symbols = symbols_in(hole, path)
        if not symbols:
            continue
        try:
            mine = Module.read(files[path], path)
        except (SyntaxError, UnicodeDecodeError) as error:
                raise CourseError(f"cannot write the answer into {files[path]}, because it is not "
                                  f"valid Python: {error}") from None
        theirs, lines = module(stage.package, path), mine.lines
        spans = [(mine.span(mine.find(symbol)), theirs.span(theirs.find(symbol)))
                 for symbol in symbols]
        for (first, last), (begin, end) in sorted(spans, reverse=True):
            lines[first - 1 : last] = theirs.lines[begin - 1 : end]
        texts[path] = "\n".join(lines) + "\n"
    written = []
    for path, text in texts.items():
        copy = space.back_up(files[path])
        replace_file(files[path], text)
        written.append((files[path], copy))
    return written
