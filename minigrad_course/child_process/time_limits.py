"""Limit the time of each exercise from inside the process that runs the tests.

NOTE [Two clocks]
    An exercise may use `seconds` of CPU time, so that a busy machine cannot make a right answer
    fail, and three times as much wall time, so that code that sleeps forever ends too.  Both limits
    raise in the running test.  Code that catches everything, or never returns to Python, is killed
    from outside by `faulthandler`, which logs where the code was.
"""

from __future__ import annotations

import faulthandler
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from .learner_frames import Owners

__all__ = ["Fixtures", "Interrupts", "Limits", "TimeLimit", "limited_import", "limited_symptoms"]


class TimeLimit(BaseException):
    """Raised in code that takes too long; `except Exception` does not catch it."""


TimeLimit.__module__ = "builtins"  # so that pytest shows the bare name


class Limits:
    """A pytest plugin that stops the tests of an exercise once they take too long in total."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.owners, self.seconds = Owners(plan), float(plan["limit"])
        self.only_first = bool(plan.get("stop_at_limit"))
        self.used: dict[str, float] = {}
        self.over: set[str] = set()  # the exercises that used up their time
        self.log = open(plan["stuck"], "w", encoding="utf-8")  # noqa: SIM115, until the end

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        """Skip the tests of an exercise without time left; returning True marks them as done."""
        exercises = _exercises(item)
        skip = self.over and (self.only_first or not self.over.isdisjoint(exercises))
        return True if skip else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
        """Set up a test within the limit."""
        with self.limited(_exercises(item), item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        """Run a test within the limit."""
        with self.limited(_exercises(item), item.nodeid):
            return (yield)

    @contextmanager
    def limited(self, exercises: list[str], test: str) -> Iterator[None]:
        """Raise TimeLimit in the code inside once the exercises' time is used up."""
        left = max(0.1, self.seconds - max((self.used.get(each, 0.0) for each in exercises),
                                           default=0.0))

        def end(number: int, frame: FrameType | None) -> None:
            __tracebackhide__ = True
            self.over.update(exercises)
            line = self.owners.innermost(frame)
            running = f"; stopped at {line}" if line else ""
            raise TimeLimit(f"it did not end within {self.seconds:g} seconds{running}")

        self.log.seek(0)
        self.log.truncate()
        self.log.write(f"{exercises[0] if exercises else ''} {test}\n")
        self.log.flush()
        faulthandler.dump_traceback_later(3 * left + 2, exit=True, file=self.log)
        before = time.process_time()
        try:
            with _alarms(left, end):
                yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            for each in exercises:
                self.used[each] = self.used.get(each, 0.0) + time.process_time() - before


class Interrupts:
    """A pytest plugin for tests that are interrupted."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        """Keep one frame, because pytest parses the whole file of each frame that it shows.

        With all frames it took a second to stop, and several in a browser.
        """
        excinfo.traceback = excinfo.traceback[-1:]


class Fixtures:
    """A pytest plugin for fixtures that raise a `BaseException`, such as TimeLimit.

    Without it pytest does not finalize the fixture, which then fails in every later test too.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        """Store the error, as pytest does for an `Exception`."""
        try:
            return (yield)
        except BaseException as error:
            kept = (error, error.__traceback__)
            fixturedef.cached_result = (None, fixturedef.cache_key(request), kept)
            raise


def _exercises(item: Any) -> list[str]:
    return [mark.args[0] for mark in item.iter_markers("hole")]


@contextmanager
def _alarms(seconds: float, end: Any) -> Iterator[None]:
    """Call `end` after `seconds` of CPU time, or three times as much wall time."""
    if not hasattr(signal, "setitimer"):  # Windows: `faulthandler` alone
        yield
        return
    clocks = ((signal.SIGPROF, signal.ITIMER_PROF, seconds),
              (signal.SIGALRM, signal.ITIMER_REAL, 3 * seconds))
    before = [signal.signal(number, end) for number, _, _ in clocks]
    for _, clock, after in clocks:
        signal.setitimer(clock, after, 1.0)  # repeat, for code that catches everything
    try:
        yield
    finally:
        for _, clock, _ in clocks:
            signal.setitimer(clock, 0)
        for (number, _, _), handler in zip(clocks, before):
            signal.signal(number, handler)


@contextmanager
def limited_import(plan: dict[str, Any]) -> Iterator[None]:
    """Raise TimeLimit if importing the learner's files takes too long."""
    with _limited_as_a_whole(plan, "importing your files", 3):
        yield


@contextmanager
def limited_symptoms(plan: dict[str, Any]) -> Iterator[None]:
    """Raise TimeLimit in each remaining symptom once all of them have taken too long together."""
    with _limited_as_a_whole(plan, "looking for the mistake", 1):
        yield


@contextmanager
def _limited_as_a_whole(plan: dict[str, Any], action: str, times: int) -> Iterator[None]:
    if not plan.get("limit"):
        yield
        return
    owners, seconds = Owners(plan), times * float(plan["limit"])

    def end(number: int, frame: FrameType | None) -> None:
        line = owners.innermost(frame)
        raise TimeLimit(f"{action} did not end within {seconds:g} seconds"
                        + (f"; stopped at {line}" if line else ""))

    with _alarms(seconds, end):
        yield
