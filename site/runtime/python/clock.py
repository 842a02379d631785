"""A clock for the page's Python that never tells the same time twice.

Browsers round their clock, to 5 microseconds or up to a millisecond.  Events that follow one
another would begin and end together, and a profile could not tell which lies within which.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

__all__ = ["install", "rising"]

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


def install() -> None:
    """Make `time.perf_counter_ns` such a clock, in a browser."""
    if sys.platform == "emscripten":
        time.perf_counter_ns = rising(time.perf_counter_ns)
