"""Data sets: samples by index, or one after the other.

Source: https://docs.pytorch.org/docs/stable/data.html#dataset-types
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...frames import warn_user
from ...op.declaration import F
from ...ops.indexing.elements import is_plain
from ...ops.random.sampling import randperm
from ...tensor.tensor import Tensor

__all__ = ["ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset",
           "TensorDataset", "random_split"]


class Dataset:
    """Samples by index: a subclass defines `__getitem__`, and `__len__` for iteration.

    >>> from minigrad.utils.data import DataLoader, Dataset
    >>> class Squares(Dataset):
    ...     def __getitem__(self, index): return index**2
    ...     def __len__(self): return 4
    >>> list(DataLoader(Squares(), batch_size=3))
    [tensor([0, 1, 4]), tensor([9])]
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])

    def __class_getitem__(cls, item: Any) -> Any:
        return cls


class IterableDataset(Dataset):
    """Samples one after the other: a subclass defines `__iter__`.

    >>> from minigrad.utils.data import DataLoader, IterableDataset
    >>> class Countdown(IterableDataset):
    ...     def __iter__(self): return iter([3, 2, 1])
    >>> list(DataLoader(Countdown(), batch_size=2))
    [tensor([3, 2]), tensor([1])]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Tensors whose first dimensions have the same size; sample i is row i of each.

    >>> from minigrad import arange
    >>> TensorDataset(arange(3), arange(3) * 10)[1]
    (tensor(1), tensor(10))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != t.size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class Subset(Dataset):
    """Some samples of a data set, selected by their indices.

    >>> from minigrad.utils.data import Subset
    >>> list(Subset([10, 20, 30], [2, 0]))
    [30, 10]
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        numbers = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            found: list[Any] = self.dataset.__getitems__(numbers)
            return found
        return [self.dataset[number] for number in numbers]

    def __len__(self) -> int:
        return len(self.indices)


def rows_at_once(dataset: Any, numbers: Any) -> list[Tensor] | None:
    """Return the batch of these samples of a `TensorDataset`, or of a `Subset` of one.

    It is what `default_collate` joins, without taking the samples one by one.  Return `None` if the
    samples have to be taken one by one, because something could tell the difference.

    >>> from minigrad import arange
    >>> rows_at_once(TensorDataset(arange(3) * 10), [2, 0])
    [tensor([20,  0])]
    """
    while type(dataset) is Subset and type(dataset.indices) in (list, range) and (
            type(numbers) is list):
        most = len(dataset.indices)
        if not all(type(i) is int and -most <= i < most for i in numbers):
            return None
        numbers, dataset = [dataset.indices[i] for i in numbers], dataset.dataset
    if type(dataset) is not TensorDataset or type(numbers) is not list or not numbers:
        return None
    size = dataset.tensors[0]._array.shape[0]
    if not all(type(i) is int and 0 <= i < size for i in numbers) or not all(
            is_plain(t) and t._array.flags.c_contiguous for t in dataset.tensors):
        return None
    index = Tensor._plain(np.asarray(numbers))
    return [F.index_select(t, 0, index) for t in dataset.tensors]


class ConcatDataset(Dataset):
    """Several data sets, one after the other.

    >>> from minigrad.utils.data import ConcatDataset
    >>> list(ConcatDataset([[1, 2], [3]]))
    [1, 2, 3]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        for dataset, end in zip(self.datasets, self.cumulative_sizes, strict=True):
            if index < end:
                return dataset[index - end + len(dataset)]
        raise IndexError("list index out of range")

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class StackDataset(Dataset):
    """Data sets of the same length side by side: sample i holds sample i of each.

    >>> StackDataset([1, 2], ["a", "b"])[1], StackDataset(x=[1, 2])[0]
    ((2, 'b'), {'x': 1})
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or``dict``- (via "
                             "``kwargs``) like input/output, but both types are given.")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        if len({len(dataset) for dataset in args or kwargs.values()}) > 1:
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        sets = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        return len(next(iter(sets)))


class ChainDataset(IterableDataset):
    """Several iterable data sets, one after the other.

    >>> from minigrad.utils.data import ChainDataset, IterableDataset
    >>> class Countdown(IterableDataset):
    ...     def __init__(self, start): self.start = start
    ...     def __iter__(self): return iter(range(self.start, 0, -1))
    >>> list(ChainDataset([Countdown(3), Countdown(2)])), list(Countdown(1) + Countdown(2))
    ([3, 2, 1, 2, 1], [1, 2, 1])
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self._checked())

    def __len__(self) -> int:
        sizes: list[Any] = list(self._checked())
        return sum(len(dataset) for dataset in sizes)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Split a data set at random into subsets with these lengths, or these fractions.

    >>> [len(part) for part in random_split(range(10), [0.7, 0.3])]
    [7, 3]
    """
    counts = list(lengths)
    if math.isclose(sum(counts), 1) and sum(counts) <= 1:
        for i, fraction in enumerate(counts):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        counts = [math.floor(len(dataset) * fraction) for fraction in counts]
        for i in range(len(dataset) - int(sum(counts))):
            counts[i % len(counts)] += 1
        for i, count in enumerate(counts):
            if count == 0:
                warn_user(f"Length of split at index {i} is 0. This might result in an empty "
                          "dataset.")
    if sum(counts) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(int(sum(counts)), generator=generator).tolist()
    ends = itertools.accumulate(counts)
    return [Subset(dataset, order[int(end - n):int(end)])
            for end, n in zip(ends, counts, strict=True)]
