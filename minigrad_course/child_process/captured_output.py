"""Capture what each exercise prints while it is tested.

This runs in the process of `swap.py`, and on the site.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from .learner_frames import Owners

#: How many characters to keep for each exercise in each test.
KEPT = 4000


class _Recorder:
    """A stream that passes on everything, and keeps the text that a learner's code writes."""

    def __init__(self, stream: Any, printed: Printed) -> None:
        self.stream, self.printed = stream, printed

    def write(self, text: str) -> int:
        line = self.printed.owners.innermost(sys._getframe(1))
        if line is not None:
            self.printed.keep(line.exercise, text)
        return int(self.stream.write(text))

    def close(self) -> None:
        """Do nothing: pytest still writes to the stream."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Printed:
    """A pytest plugin that keeps what each exercise prints in each test."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.owners = Owners(plan)
        self.tests: dict[str, dict[str, str]] = {}  # by test, then by exercise ("" for helpers)
        self.now = ""

    def keep(self, exercise: str, text: str) -> None:
        """Keep text from the running test, up to a limit."""
        texts = self.tests.setdefault(self.now, {})
        before = texts.get(exercise, "")
        if len(before) < KEPT:
            texts[exercise] = before + text[:KEPT]

    # The innermost wrapper, so that `capsys` and the like have already replaced the streams.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        """Capture the output of a running test."""
        self.now = item.nodeid
        with self.watched():
            return (yield)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Keep what the code inside the block prints."""
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = _Recorder(before[0], self), _Recorder(before[1], self)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before
