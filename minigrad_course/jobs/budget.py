"""Limits on what a process may use to analyse a text: memory, computing time, recursion.

Waiting for sandboxes is not counted, because those processes have their own limits.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

if sys.platform != "win32":
    import resource

from ..grading.process import Ended, Limits
from ..grading.sandbox import Sandbox

__all__ = ["DEPTH", "MEMORY", "SECONDS", "Metered", "limit_memory_and_depth", "limited_time",
           "unlimited_time"]

#: Bytes of memory, seconds of computing for each step, and levels of recursion.
MEMORY, SECONDS, DEPTH = 2 << 30, 30, 10_000


def limit_memory_and_depth() -> None:
    """Limit this process's memory, and let it recurse further than Python does by default.

    Python's own limit would stop it at a chain of 250 `elif`.  If the stack overflows before the
    higher limit, the process crashes, and its parent reports that as the reason.
    """
    sys.setrecursionlimit(DEPTH)
    if sys.platform != "win32":
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        with contextlib.suppress(OSError, ValueError):  # macOS refuses it
            # the soft limit alone: a graded process has a higher one
            resource.setrlimit(resource.RLIMIT_AS, (
                MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most), most))
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))


def limited_time(seconds: float = SECONDS) -> None:
    """End this process after more seconds of computing, counted from now."""
    if sys.platform != "win32":
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(time.process_time() + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (
            soft if most == resource.RLIM_INFINITY else min(soft, most), most))


@contextlib.contextmanager
def unlimited_time() -> Iterator[None]:
    """Stop counting, and continue afterwards with the remaining time."""
    if sys.platform == "win32":
        yield
        return
    soft, most = resource.getrlimit(resource.RLIMIT_CPU)
    begun = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    try:
        yield
    finally:
        used = time.process_time() - begun
        after = soft if soft == resource.RLIM_INFINITY else soft + round(used)
        resource.setrlimit(resource.RLIMIT_CPU, (
            after if most == resource.RLIM_INFINITY else min(after, most), most))


@dataclass(frozen=True)
class Metered(Sandbox):
    """A sandbox in which waiting for a run does not count as computing."""

    def run(self, bundle: Path, words: Sequence[str], job: bytes, limits: Limits) -> Ended:
        """Run like `Sandbox.run`."""
        with unlimited_time():
            return super().run(bundle, words, job, limits)
