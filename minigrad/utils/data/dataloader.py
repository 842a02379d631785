"""DataLoader iterates over a data set in batches.

Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ...frames import warn_user
from .collate import default_collate, default_convert
from .dataset import IterableDataset, rows_at_once
from .sampler import BatchSampler, RandomSampler, SequentialSampler, random_seed
from .workers import Exhausted, Make, WorkerInfo, Workers, for_worker, get_worker_info

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

OF_WORKERS = (
    "For multiprocessing data-loading, this could be caused by not properly configuring the "
    "IterableDataset replica at each worker. Please see https://pytorch.org/docs/stable/data.html"
    "#torch.utils.data.IterableDataset for examples.")


class DataLoader:
    """Iterates over a data set in batches, in order or shuffled.

    `generator` determines the order, and `collate_fn` joins samples. With `num_workers` that many
    threads make batches ahead of time: the same batches in the same order, and an error in a worker
    is raised here. Each thread has its own copy of the data set, as a process would, and starts
    with `worker_init_fn(number)`. Every thread reads a stream (`IterableDataset`) itself, and calls
    `get_worker_info` to find out which part it should read. With `persistent_workers`, the copies
    last for all passes. `pin_memory` and `multiprocessing_context` have no effect on threads.

    >>> from minigrad import arange
    >>> from minigrad.utils.data import TensorDataset
    >>> for (batch,) in DataLoader(TensorDataset(arange(5)), batch_size=2, num_workers=2):
    ...     print(batch)
    tensor([0, 1])
    tensor([2, 3])
    tensor([4])
    """

    _ready = False

    def __init__(self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
                 sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
                 collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False,
                 drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
                 multiprocessing_context: Any = None, generator: Any = None, *,
                 prefetch_factor: int | None = None, persistent_workers: bool = False,
                 pin_memory_device: str = "", in_order: bool = True) -> None:
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers,
                      multiprocessing_context)
        streamed = isinstance(dataset, IterableDataset)
        if streamed:
            check_stream(shuffle, sampler, batch_sampler)
        check_batches(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            if streamed:
                sampler = itertools.repeat(None)
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset = dataset
        self.iterable = streamed
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.generator = generator
        self.reported: int | None = None  # a stream's length, after a call of `len`
        self._copies: list[Any] = []  # the workers' data sets, if workers persist
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None
                                         else default_collate)
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._ready and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is "
                             "initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        if self.pin_memory:
            warn_user("'pin_memory' argument is set as true but no accelerator is found, then "
                      "device pinned memory won't be used.")
        tasks = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        seed = random_seed(self.generator)  # PyTorch draws one even without workers
        if not self.num_workers:
            batches = self._batches(tasks)
        else:
            infos = [WorkerInfo(number, self.num_workers, seed + number, dataset)
                     for number, dataset in enumerate(self._datasets())]
            batches = Workers(tasks, self._begin, self.num_workers, self.prefetch_factor or 0,
                              infos, self.timeout)
        return batches if self.reported is None else self._counted(batches, self.reported)

    def _datasets(self) -> list[Any]:
        """Return a data set for each worker; persistent workers keep theirs."""
        if self._copies:
            return self._copies
        copies = [for_worker(self.dataset) for _ in range(self.num_workers)]
        if self.persistent_workers:
            self._copies.extend(copies)
        return copies

    def _counted(self, batches: Iterator[Any], reported: int) -> Iterator[Any]:
        """Yield batches; warn about each that a stream yields beyond its length."""
        for number, batch in enumerate(batches, 1):
            if number > reported:
                warn_user(
                    f"Length of IterableDataset {self.dataset} was reported to be {reported}(when "
                    f"accessing len(dataloader)), but {number} samples have been fetched. "
                    + (OF_WORKERS if self.num_workers else ""))
            yield batch

    def _batches(self, tasks: Iterator[Any]) -> Iterator[Any]:
        make = self._maker(self.dataset)
        for task in tasks:
            batch = make(task)
            if isinstance(batch, Exhausted):
                return
            yield batch

    def _begin(self, worker: int) -> Make:
        if self.worker_init_fn is not None:
            self.worker_init_fn(worker)
        info = get_worker_info()
        assert info is not None
        return self._maker(info.dataset)

    def _maker(self, dataset: Any) -> Make:
        """Return the function that makes a batch from indices, or the next batch of a stream."""
        join, alone = self.collate_fn, self.batch_sampler is None
        if self.iterable:
            samples = iter(dataset)

            def from_stream(numbers: Any) -> Any:
                wanted = 1 if alone else len(numbers)
                found = list(itertools.islice(samples, wanted))
                if not found or (self.drop_last and len(found) < wanted):
                    return Exhausted()
                return join(found[0] if alone else found)

            return from_stream
        if alone:
            return lambda number: join(dataset[number])

        def samples_of(numbers: Any) -> list[Any]:
            if callable(getattr(dataset, "__getitems__", None)):
                found: list[Any] = dataset.__getitems__(numbers)
                return found
            return [dataset[number] for number in numbers]

        def from_numbers(numbers: Any) -> Any:
            batch = rows_at_once(dataset, numbers) if join is default_collate else None
            return join(samples_of(numbers)) if batch is None else batch

        return from_numbers

    def __len__(self) -> int:
        if self.iterable:
            count = self.reported = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def check_workers(count: int, timeout: float, prefetch: int | None, persistent: bool,
                  context: Any) -> None:
    """Raise if the worker options are invalid."""
    if count < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable "
                         "multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if count == 0 and prefetch is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing.let "
                         "num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor "
                         "to None.")
    if prefetch is not None and prefetch < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and count == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if context is not None and count == 0:
        raise ValueError("multiprocessing_context can only be used with multi-process loading "
                         f"(num_workers > 0), but got num_workers={count}")


def check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """Raise if options request a different order for a stream."""
    for name, value, wrong in (("shuffle", shuffle, shuffle not in (False, None)),
                               ("sampler", sampler, sampler is not None),
                               ("batch_sampler", batch_sampler, batch_sampler is not None)):
        if wrong:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option,"
                             f" but got {name}={value}")


def check_batches(batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any,
                  drop_last: bool) -> None:
    """Raise if options for the order and the size of batches exclude each other."""
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, "
                             "sampler, and drop_last")
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive "
                         "with drop_last")
