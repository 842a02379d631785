"""Remove the package's frames from tracebacks, because they would show answers to exercises."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from ..content.folders import COURSE, PACKAGE

__all__ = ["hide_package", "own_lines"]

_COURSE = COURSE.as_posix() + "/"
_IMPORT = ("<frozen importlib", Path(importlib.__file__).as_posix())
_PACKAGE = PACKAGE.as_posix() + "/"


def hide_package(error: BaseException) -> int:
    """Remove the package's frames from an error's traceback; return how many there were.

    This includes the errors that led to it.  A learner's files that replace modules of the package
    are in another folder, so their frames stay.
    """
    hidden, seen = 0, set()
    todo: list[BaseException | None] = [error]
    while todo:
        each = todo.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__, count = _without(each.__traceback__)
        hidden += count
        todo += [each.__cause__, each.__context__]
    return hidden


def own_lines(lines: Sequence[str]) -> list[str]:
    """Return a printed traceback's lines without the frames of the package and of `import`.

    >>> own_lines(['  File "a.py", line 1, in <module>', "    import b"])
    ['  File "a.py", line 1, in <module>', '    import b']
    """
    kept, ours = [], False
    for line in lines:
        if line.startswith('  File "'):
            ours = Path(line.split('"')[1]).as_posix().startswith((_PACKAGE, _COURSE, *_IMPORT))
        elif not line.startswith("    "):
            ours = False
        if not ours:
            kept.append(line)
    return kept


def _without(trace: TracebackType | None) -> tuple[TracebackType | None, int]:
    steps = []
    while trace is not None:
        steps.append(trace)
        trace = trace.tb_next
    own = [step for step in steps
           if not Path(step.tb_frame.f_code.co_filename).as_posix().startswith(_PACKAGE)]
    made: TracebackType | None = None
    for step in reversed(own):
        made = TracebackType(made, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return made, len(steps) - len(own)
