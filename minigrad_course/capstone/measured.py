"""Results that a program of the capstone returns to the command that started it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from minigrad.op import apply, node

__all__ = ["Operations", "counted", "write_result"]

Item = TypeVar("Item")


@dataclass
class Operations:
    """The operations that some code ran, and how many of them ran code that the learner wrote.

    An operation is one forward of an op, or one formula of a node in the backward pass.  It counts
    as the learner's if a function of theirs runs it, or if it calls one.
    """

    ran: int = 0
    own: int = 0

    def of_first(self, steps: Iterator[Item]) -> Iterator[Item]:
        """Yield the items of `steps`, and count the operations that the first one takes."""
        with counted(self):
            first = next(steps)
        yield first
        yield from steps


@contextmanager
def counted(found: Operations) -> Iterator[None]:
    """Add the operations that the block runs to `found`.

    A learner's module has the name of the package's module that it replaces.  However, the files of
    its functions are in another folder, so their paths identify them.

    >>> from minigrad import tensor
    >>> found = Operations()
    >>> with counted(found):
    ...     (tensor([1.0, 2.0], requires_grad=True) * 3).sum().backward()
    >>> found.own
    0
    """
    starts = {apply.run_op.__code__, node.OpNode.run.__code__}
    package = f"{Path(apply.__file__).parents[1]}{os.sep}"
    depth, own_depth, started, is_own = 0, 0, 0, False

    def follow(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth, own_depth, started, is_own
        if event not in ("call", "return"):
            return
        step = 1 if event == "call" else -1
        depth += step
        code = frame.f_code
        if str(frame.f_globals.get("__name__", "")).startswith("minigrad.") and \
                not code.co_filename.startswith((package, "<")):  # "<string>" is a dataclass's
            own_depth += step
            is_own = is_own or bool(started)
        if code in starts:
            if step == 1 and not started:
                started, is_own = depth, bool(own_depth)
            elif step == -1 and started == depth + 1:
                found.ran, found.own, started = found.ran + 1, found.own + is_own, 0

    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        yield
    finally:
        sys.setprofile(before)


def write_result(file: str, operations: Operations, **facts: Any) -> None:
    """Write results as JSON, along with the operations that a training step ran."""
    Path(file).write_text(json.dumps({**facts, **asdict(operations)}), encoding="utf-8")
