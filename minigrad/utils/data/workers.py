"""Worker threads of a data loader make batches ahead of time and return them in order.

NOTE [Threads, not processes]
    PyTorch's workers are processes. Threads need no pickling, and NumPy lets them run in parallel.
    Each thread has its own default generator, seeded as in PyTorch's worker processes, so random
    transforms draw the same numbers. Each also has its own copy of the data set, because a process
    has one: changes that a data set makes to itself stay in its worker. A `TensorDataset` never
    changes and isn't copied, and neither is a data set that cannot be copied, such as one with an
    open file. Python's `random` and NumPy's own generator are shared by all threads and stay
    untouched, and so are global variables.
"""

from __future__ import annotations

import contextvars
import copy
import itertools
import pickle
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...ops.random.generator import Generator, of_this_thread
from .dataset import TensorDataset

Make = Callable[[Any], Any]


@dataclass
class WorkerInfo:
    """The result of `get_worker_info`: id, number of workers, seed and data set.

    >>> info = WorkerInfo(id=0, num_workers=2, seed=7, dataset=[10, 20, 30, 40])
    >>> info.dataset[info.id :: info.num_workers]  # the part of this worker
    [10, 30]
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    worker_method: str = "thread"


_info: contextvars.ContextVar[WorkerInfo | None] = contextvars.ContextVar("worker", default=None)


def get_worker_info() -> WorkerInfo | None:
    """Return the current worker's id, the number of workers, its seed and the data set.

    Returns `None` outside of workers.

    >>> get_worker_info() is None
    True
    """
    return _info.get()


def for_worker(dataset: Any) -> Any:
    """Return a worker's copy of a data set.

    >>> counts = [0]
    >>> for_worker(counts) is counts
    False
    """
    if type(dataset) is TensorDataset:
        return dataset
    try:
        return copy.deepcopy(dataset)
    except (TypeError, RuntimeError, NotImplementedError, pickle.PicklingError):
        return dataset  # it holds a lock, a file, a generator or a tensor with a history


class Exhausted:
    """Sentinel that a worker returns at the end of its part of a stream."""


class Board:
    """Exchange of tasks and batches between the caller and its workers, by number."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.tasks: list[dict[int, Any]] = []  # one queue for each worker
        self.done: dict[int, tuple[Any, BaseException | None]] = {}
        self.stopped = False

    def put(self, worker: int, number: int, task: Any) -> None:
        """Queue a task for a worker."""
        with self.changed:
            self.tasks[worker][number] = task
            self.changed.notify_all()

    def take(self, worker: int) -> tuple[int, Any] | None:
        """Wait for a worker's next task; return `None` once there are no more."""
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or self.tasks[worker])
            if self.stopped:
                return None
            number = next(iter(self.tasks[worker]))
            return number, self.tasks[worker].pop(number)

    def finish(self, number: int, batch: Any, error: BaseException | None) -> None:
        """Deliver a batch, or an error instead."""
        with self.changed:
            self.done[number] = batch, error
            self.changed.notify_all()

    def collect(self, number: int, timeout: float) -> tuple[Any, BaseException | None]:
        """Wait for a batch."""
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.done, timeout or None):
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
            return self.done.pop(number)

    def stop(self) -> None:
        """Tell all workers to stop."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


class Workers:
    """An iterator over the batches of one pass, made by `count` threads, `ahead` batches each.

    `begin(worker)` runs in each thread and returns the function from a task to a batch. Worker i
    modulo `count` gets task i. Batches are returned in the order of the tasks, and an error is
    raised in place of its batch. The threads stop after the last batch, or when the iterator is
    dropped.
    """

    def __init__(self, tasks: Iterator[Any], begin: Callable[[int], Make], count: int, ahead: int,
                 infos: list[WorkerInfo], timeout: float) -> None:
        self._tasks = enumerate(tasks)
        self._timeout = timeout
        self._board = board = Board()
        board.tasks = [{} for _ in range(count)]
        self._owners: dict[int, int] = {}  # the worker of each task, in order
        self._turns = itertools.cycle(range(count))
        self._ended = [False] * count  # workers at the end of their stream
        self._threads = [threading.Thread(target=work, args=(board, begin, info), daemon=True,
                                          name=f"data loader worker {info.id}") for info in infos]
        self._finalizer = weakref.finalize(self, end, board, self._threads)
        for thread in self._threads:
            thread.start()
        for _ in range(max(ahead, 1) * count):
            self._assign()

    def _assign(self) -> None:
        """Queue one more task for the next worker that has not ended."""
        if all(self._ended):
            return
        number, task = next(self._tasks, (None, None))
        if number is not None:
            worker = next(worker for worker in self._turns if not self._ended[worker])
            self._owners[number] = worker
            self._board.put(worker, number, task)

    def __iter__(self) -> Workers:
        return self

    def __next__(self) -> Any:
        while self._owners:
            number = next(iter(self._owners))
            batch, error = self._board.collect(number, self._timeout)
            worker = self._owners.pop(number)
            if isinstance(batch, Exhausted):
                self._ended[worker] = True
            self._assign()
            if error is not None:
                raise as_caught(error, worker) from error
            if not isinstance(batch, Exhausted):
                return batch
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Stop the threads and wait for them."""
        self._finalizer()


class Text(str):
    """A message that a `KeyError` shows line by line."""

    __repr__ = str.__str__


def as_caught(error: BaseException, worker: int) -> BaseException:
    """Return an error of the same class with a text that names the worker and the place.

    It's a `RuntimeError` if the class doesn't accept a single text.
    """
    where = "".join(traceback.format_exception(error))
    text = Text(f"Caught {type(error).__name__} in DataLoader worker process {worker}.\n"
                f"Original {where}")
    try:
        return type(error)(text)
    except Exception:
        return RuntimeError(text)


def work(board: Board, begin: Callable[[int], Make], info: WorkerInfo) -> None:
    """Make batches until told to stop: the main loop of a thread."""
    _info.set(info)
    of_this_thread.set(Generator().manual_seed(info.seed))
    failed: BaseException | None = None
    make: Any = None
    try:
        make = begin(info.id)
    except Exception as error:  # the error belongs to the caller
        failed = error
    while (task := board.take(info.id)) is not None:
        number, given = task
        try:
            if failed is not None:
                raise failed
            board.finish(number, make(given), None)
        except Exception as error:  # the caller raises it
            board.finish(number, None, error)
        del task, given


def end(board: Board, threads: list[threading.Thread]) -> None:
    """Stop the threads; wait for all except the current one."""
    board.stop()
    for thread in threads:
        if thread is not threading.current_thread() and thread.ident is not None:
            thread.join()
