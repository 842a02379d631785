"""A small thread pool for work on arrays: NumPy releases the interpreter lock while it computes.

NOTE [The same numbers with any number of threads]
    `for_each` only decides which thread processes an item, and when.  The division into items
    depends only on shapes, and their results are combined in order, so a result does not depend on
    the number of threads.

NOTE [Two pools of threads]
    BLAS has its own threads, which busy-wait for the next product and so occupy the processors. A
    second pool competes with them: convolutions with blocks on this pool took 1.5 times as long as
    with BLAS's threads alone.  Therefore work with a matrix product never runs on this pool, and
    the last bits of products depend on BLAS's threads, unless `keep_products_on_one_thread` is on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from .float_errors import IGNORED, set_float_errors

__all__ = ["for_each", "get_num_threads", "keep_products_on_one_thread", "set_num_threads"]


def _usable_processors() -> int:
    """Return the initial number of threads: OMP_NUM_THREADS, else this process's processors."""
    wished = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if wished.isdecimal() and int(wished) > 0:
        return int(wished)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _limit_blas(count: int) -> bool:
    """Limit each matrix product to `count` threads; return False if threadpoolctl is missing."""
    try:
        import threadpoolctl  # type: ignore[import-untyped]  # ships no types
    except ImportError:
        return False
    threadpoolctl.threadpool_limits(count, user_api="blas")
    return True


class _Job:
    """A function and its items, shared by any number of threads."""

    def __init__(self, function: Callable[[Any], Any], items: Sequence[Any]) -> None:
        self.function, self.items = function, items
        self.results: list[Any] = [None] * len(items)
        self.errors: dict[int, BaseException] = {}
        self.places = iter(range(len(items)))  # shared, so each index is taken once
        self.left = len(items)
        self.lock = threading.Lock()
        self.finished = threading.Event()

    def work(self) -> None:
        """Process items until all are taken; after an error, only count them."""
        for place in self.places:
            try:
                if not self.errors:
                    self.results[place] = self.function(self.items[place])
            except BaseException as error:  # raised in the waiting thread
                self.errors[place] = error
            with self.lock:
                self.left -= 1
                if not self.left:
                    self.finished.set()


class _Pool:
    """Threads that wait for jobs and end with the process."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        self.size = 0
        self.lock = threading.Lock()

    def share(self, job: _Job, helpers: int) -> None:
        """Let `helpers` threads help with a job as soon as they are free."""
        with self.lock:
            while self.size < helpers:
                self.size += 1
                threading.Thread(target=self.serve, name=f"minigrad pool {self.size}",
                                 daemon=True).start()
        for _ in range(helpers):
            self.jobs.put(job)

    def serve(self) -> None:
        """Help with one job after another."""
        _here.busy = True
        set_float_errors(IGNORED)  # each thread has its own
        while True:
            self.jobs.get().work()


class _Here(threading.local):
    busy = False  # whether this thread is working on an item


_here = _Here()
_pool = _Pool()
_number = _usable_processors()
_one_for_products = False


def _start_anew() -> None:
    """Reset after a fork, since the child has no threads, and perhaps locks that are held."""
    global _pool
    _pool = _Pool()
    _here.busy = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def get_num_threads() -> int:
    """Return the number of threads for large arrays.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.get_num_threads.html

    >>> get_num_threads() >= 1
    True
    """
    return _number


def set_num_threads(count: int) -> None:
    """Set the number of threads for large arrays and, if threadpoolctl is installed, for BLAS.

    The initial value is OMP_NUM_THREADS, or else the number of processors that this process may
    use. Raises `RuntimeError` unless `count` is an int of at least one.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.set_num_threads.html

    >>> set_num_threads(get_num_threads())
    """
    global _number
    if type(count) is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _number = count
    if not _one_for_products:
        _limit_blas(count)


def keep_products_on_one_thread(mode: bool) -> bool:
    """Run matrix products on one thread, even if `set_num_threads` allows more, or stop that.

    Results then don't depend on the number of threads.  Return False if products may still use
    several threads, because threadpoolctl isn't installed.

    >>> keep_products_on_one_thread(False)
    True
    """
    global _one_for_products
    if mode == _one_for_products:
        return True
    _one_for_products = mode
    return _limit_blas(1 if mode else _number) or not mode or _number == 1


def for_each(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Return `[function(item) for item in items]`, computed by several threads.

    Within an item, further items run one after the other.  If items fail, the error of the first is
    raised once all have ended.

    >>> for_each(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    if _number == 1 or _here.busy:
        return [function(item) for item in items]
    _here.busy = True
    try:
        return _shared_out(function, items)
    finally:
        _here.busy = False


def _shared_out(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    helpers = min(_number, len(items)) - 1
    if helpers < 1:
        return [function(item) for item in items]
    job = _Job(function, items)
    _pool.share(job, helpers)
    job.work()
    job.finished.wait()
    if job.errors:
        raise job.errors[min(job.errors)]
    return job.results
