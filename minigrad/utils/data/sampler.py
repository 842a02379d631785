"""Samplers determine the order of samples. With the same seed it equals PyTorch's.

Source: https://docs.pytorch.org/docs/stable/data.html#data-loading-order-and-sampler
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ...dtypes import float64, int64
from ...op.declaration import F
from ...ops.creation.create import as_tensor, empty
from ...ops.random.sampling import Generator, randint, randperm

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
           "WeightedRandomSampler", "random_seed"]


class Sampler:
    """Base of samplers that yield the indices of samples.

    >>> from minigrad.utils.data import DataLoader, Sampler
    >>> class Backwards(Sampler):
    ...     def __iter__(self): return iter([2, 1, 0])
    >>> list(DataLoader([10, 20, 30], sampler=Backwards(), batch_size=2))
    [tensor([30, 20]), tensor([10])]
    """

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __class_getitem__(cls, item: Any) -> Any:
        return cls


class SequentialSampler(Sampler):
    """Yields all indices in order.

    >>> from minigrad.utils.data import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Yields indices at random, each once, or drawn independently with `replacement`.

    >>> from minigrad.utils.data import RandomSampler
    >>> sorted(RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any, replacement: bool = False,
                 num_samples: int | None = None, generator: Any = None) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got "
                            f"replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError("num_samples should be a positive integer value, but got "
                             f"num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """The number of indices to yield.

        >>> from minigrad.utils.data import RandomSampler
        >>> RandomSampler("abc").num_samples, RandomSampler("abc", num_samples=7).num_samples
        (3, 7)
        """
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        total, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(random_seed())
        # Draw in chunks of PyTorch's size, so that the order is the same.
        if self.replacement:
            for start in range(0, self.num_samples, 32):
                size = min(32, self.num_samples - start)
                yield from randint(0, total, (size,), generator=generator).tolist()
            return
        rounds, rest = divmod(self.num_samples, total)
        for _ in range(rounds):
            yield from randperm(total, generator=generator).tolist()
        yield from randperm(total, generator=generator).tolist()[:rest]

    def __len__(self) -> int:
        return self.num_samples


def random_seed(generator: Any = None) -> int:
    """Draw a seed."""
    return int(empty((), dtype=int64).random_(generator=generator))


class SubsetRandomSampler(Sampler):
    """Yields the given indices in random order.

    >>> from minigrad.utils.data import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([4, 2]))
    [2, 4]
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Yields indices with probabilities proportional to weights.

    >>> list(WeightedRandomSampler([0.0, 1.0, 0.0], 3))
    [1, 1, 1]
    """

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True,
                 generator: Any = None) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError("num_samples should be a positive integer value, but got "
                             f"num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError("replacement should be a boolean value, but got "
                             f"replacement={replacement}")
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError("weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from F.multinomial(self.weights, self.num_samples, self.replacement,
                                 generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Yields the indices of another sampler in lists of `batch_size`.

    >>> list(BatchSampler(SequentialSampler(range(5)), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError("batch_size should be a positive integer value, but got "
                             f"batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError("drop_last should be a boolean value, but got "
                             f"drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        order = iter(self.sampler)
        while batch := list(itertools.islice(order, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count, rest = divmod(len(self.sampler), self.batch_size)
        return count if self.drop_last or not rest else count + 1
