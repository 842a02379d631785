"""Find the learner's code on the call stack: the file, line and exercise that is running.

This runs in the process of `swap.py`.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any


@dataclass(frozen=True)
class LearnerLine:
    """A line of a learner's file."""

    file: str
    line: int
    function: str  # "Class.method", "function" or "" at the top level
    exercise: str  # the number of the function's exercise, or ""

    def __str__(self) -> str:
        inside = f", in {self.function}" if self.function else ""
        owner = f" ({self.exercise})" if self.exercise else ""
        return f"{Path(self.file).name}, line {self.line}{inside}{owner}"


class Owners:
    """A learner's files and functions, with the exercise that each function belongs to."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.files = frozenset([*plan["files"].values(), *plan.get("own", ())])
        self.exercises = {(file, name): number
                          for number, file, name in plan.get("functions", ())}

    def innermost(self, frame: FrameType | None) -> LearnerLine | None:
        """Return the innermost line in a learner's file, from `frame` outwards, or `None`."""
        while frame is not None:
            code = frame.f_code
            if code.co_filename in self.files:
                return self.line_in(code.co_filename, frame.f_lineno, code.co_qualname)
            frame = frame.f_back
        return None

    def told(self, error: BaseException) -> tuple[str, tuple[str, int] | None]:
        """Return an error's traceback from the learner's line on, and the position of that line.

        The frames before it belong to the import.  If the traceback has no line of the learner's,
        it is returned whole, and the position is `None`.
        """
        if isinstance(error, SyntaxError) and (file := error.filename) in self.files and file:
            return "".join(traceback.format_exception_only(error)), (file, error.lineno or 1)
        trace, own = error.__traceback__, None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in self.files:
                own = trace
            trace = trace.tb_next
        text = "".join(traceback.format_exception(type(error), error, own or error.__traceback__))
        return text, own and (own.tb_frame.f_code.co_filename, own.tb_lineno)

    def line_in(self, file: str, line: int, qualified: str) -> LearnerLine:
        """Return the line with the exercise of `qualified`, or of the function around it."""
        name = qualified.partition(".<")[0]
        name = "" if name.startswith("<") else name
        return LearnerLine(file, line, name, self.exercises.get((file, name), ""))
