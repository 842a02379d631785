"""Run the jobs of a class in an executor: threads of this process, Dask, or any other one.

NOTE [Executors]
    A job is text and so is its record, and `run_job` is one function that keeps no state.  So every
    executor of the kind in `concurrent.futures` can run jobs, on any machine with this minigrad.
    If a worker dies, its job can simply run again, because its record depends on the job alone.
"""

from __future__ import annotations

import contextlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

from ..content.stages import CourseError

__all__ = ["executor_named", "finished", "shard_named"]

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


@contextlib.contextmanager
def executor_named(name: str) -> Iterator[Executor]:
    """Yield the executor that `--executor` names: `dask:ADDRESS`, or `module:callable`.

    The callable is called without arguments and returns an executor.  Raises CourseError if there
    is no such executor.
    """
    where, _, what = name.partition(":")
    if not where or not what:
        raise CourseError(f"--executor {name}: write dask:ADDRESS, such as dask:tcp://host:8786, "
                          "or module:callable, such as mpi4py.futures:MPIPoolExecutor")
    with contextlib.ExitStack() as stack:
        if where == "dask":
            executor = _dask(what, stack)
        else:
            try:
                executor = pkgutil.resolve_name(name)()
            except (ImportError, AttributeError, TypeError, ValueError) as error:
                raise CourseError(f"--executor {name}: {error}") from None
        if not isinstance(executor, Executor):
            raise CourseError(f"--executor {name} must return an executor of the kind in "
                              f"concurrent.futures, but it returns {type(executor).__name__}")
        yield stack.enter_context(executor)


def _dask(address: str, stack: contextlib.ExitStack) -> Executor:
    try:
        import distributed
    except ImportError:
        raise CourseError("--executor dask needs dask.distributed; install it with the extra "
                          "'dask': pip install 'minigrad-course[dask]'") from None
    connect: Any = distributed.Client  # whose types are incomplete
    try:
        client = stack.enter_context(connect(address, timeout=30))
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(f"--executor dask:{address}: no scheduler answers there: {error}"
                          ) from None
    return client.get_executor(retries=3, pure=False)


def shard_named(text: str) -> tuple[int, int]:
    """Return the shard that `--shard` names: "3/10" is the third of ten.

    >>> shard_named("3/10")
    (3, 10)
    """
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise CourseError(f"--shard {text}: write the shard's number and how many there are, such "
                          "as 3/10; the first is 1")
    return int(number), int(count)
