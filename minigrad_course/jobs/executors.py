"""Run the jobs of a class in an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait

__all__ = ["finished"]

#: How many jobs to hand to an executor before the first has ended; a class may have thousands.
AHEAD = 256


def finished(executor: Executor, run: Callable[[str], str], jobs: Iterable[tuple[int, str]]
             ) -> Iterator[tuple[int, Future[str]]]:
    """Run jobs, given with their numbers, and yield each number with its finished future."""
    waiting: dict[Future[str], int] = {}
    left = iter(jobs)
    while True:
        for number, text in left:
            waiting[executor.submit(run, text)] = number
            if len(waiting) >= AHEAD:
                break
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), future
