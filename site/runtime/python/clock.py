"""Clocks for the page's Python: one that never tells the same time twice, timers, and waits.

Browsers round their clock, to 5 microseconds or up to a millisecond.  Events that follow one
another would begin and end together, and a profile could not tell which lies within which.
"""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Timers", "ending", "install", "rising"]

#: How far back a clock may seem to go, in nanoseconds; further, and it was started anew, as it is
#: where Python goes on from what the browser kept of an earlier visit.
BACK = 100_000_000


def rising(clock: Callable[[], int]) -> Callable[[], int]:
    """Return a clock that is a nanosecond ahead of its last answer wherever `clock` is not."""
    last = -1

    def now() -> int:
        nonlocal last
        told = clock()
        last = last + 1 if last - BACK < told <= last else told
        return last

    return now


def ending(wait: Callable[..., bool]) -> Callable[..., bool]:
    """Return `Condition.wait` for a Python without threads, where one without a limit never ends.

    It raises what starting the missing thread would raise.
    """
    def waited(self: threading.Condition, timeout: float | None = None) -> bool:
        if timeout is None:
            raise RuntimeError("can't start new thread, and this waits for one")
        return wait(self, timeout)

    return waited


def install() -> None:
    """Make `time.perf_counter_ns` such a clock, and let waits end, in a browser."""
    if sys.platform == "emscripten":
        time.perf_counter_ns = rising(time.perf_counter_ns)
        threading.Condition.wait = ending(  # type: ignore[method-assign]
            threading.Condition.wait)


class Timers:
    """The timers that a browser's Python lacks, kept by the page.

    The page interrupts the code with a signal's number.  Both of `signal`'s clocks count wall time
    there, since a worker that runs a test does nothing else.
    """

    def __init__(self, told: Callable[[int, float, float], None]) -> None:
        """Set the page's timers by `told`: a signal, the seconds until it is due, and its interval.

        When SIGALRM is due, the page ends Python instead, because code that goes on after SIGPROF,
        the earlier one, catches every exception.
        """
        self._told = told

    def setitimer(self, clock: int, seconds: float, interval: float = 0.0) -> None:
        """Set a timer as `signal.setitimer` does; 0 seconds end it."""
        number = signal.SIGPROF if clock == signal.ITIMER_PROF else signal.SIGALRM
        self._told(int(number), seconds, interval)

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Let `signal` have these timers; `faulthandler`, which needs a thread, has none."""
        missing = object()
        stand_in: list[tuple[Any, str, Any]] = [
            (signal, "setitimer", self.setitimer),
            (faulthandler, "dump_traceback_later", lambda *given, **more: None),
            (faulthandler, "cancel_dump_traceback_later", lambda: None)]
        before = [(where, name, getattr(where, name, missing)) for where, name, _ in stand_in]
        for where, name, each in stand_in:
            setattr(where, name, each)
        try:
            yield
        finally:
            for where, name, each in before:
                if each is missing:
                    delattr(where, name)
                else:
                    setattr(where, name, each)
