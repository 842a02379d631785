"""Leaving lines out of a program as long as it still shows its difference."""

from __future__ import annotations

from collections.abc import Callable

from .compare import Difference
from .program import Program

Try = Callable[[Program], Difference | None]


def shrink(program: Program, difference: Difference, attempt: Try) -> tuple[Program, Difference]:
    """Return a program of which no line can be left out, and the difference that it shows.

    `attempt` runs a program and returns its difference.  One of another kind does not count: a
    program should not turn into one that shows something else.
    """
    lines, size = list(program), max(1, len(program) // 2)
    while True:
        shorter = False
        end = len(lines)
        while end > 0:
            rest = lines[: max(0, end - size)] + lines[end:]
            found = attempt(rest) if rest else None
            if found is not None and found.kind == difference.kind:
                lines, difference, shorter = rest, found, True
            end -= size
        if size == 1 and not shorter:
            return lines, difference
        size = max(1, size // 2)
