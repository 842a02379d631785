"""Data sets, orders and batches, against PyTorch with the same seeds."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.utils import data


def walk(loader: Any) -> list[Any]:
    return [[part.tolist() for part in batch] for batch in loader]


def pairs(package: Any, count: int = 10) -> Any:
    x = package.arange(count)
    return package.utils.data.TensorDataset(x, x * x)


def test_batches_in_order() -> None:
    assert walk(data.DataLoader(pairs(minigrad, 5), batch_size=2)) == [
        [[0, 1], [0, 1]], [[2, 3], [4, 9]], [[4], [16]]]
    loader = data.DataLoader(pairs(minigrad, 5), batch_size=2, drop_last=True)
    assert len(loader) == 2
    assert [len(x) for x, _ in loader] == [2, 2]
    assert len(data.DataLoader(pairs(minigrad, 5), batch_size=2)) == 3


def test_shuffling_takes_every_sample_once() -> None:
    loader = data.DataLoader(pairs(minigrad), batch_size=3, shuffle=True)
    first, second = ([i for batch in walk(loader) for i in batch[0]] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second


ORDERS: dict[str, Callable[[Any], Any]] = {
    "global seed": lambda t: [walk(loader) for loader in
                              [t.utils.data.DataLoader(pairs(t), 3, shuffle=True)] * 2],
    "generator": lambda t: [walk(loader) for loader in [t.utils.data.DataLoader(
        pairs(t), 3, shuffle=True, generator=t.Generator().manual_seed(5))] * 2],
    "replacement": lambda t: list(t.utils.data.RandomSampler(
        range(10), replacement=True, num_samples=70, generator=t.Generator().manual_seed(2))),
    "more than all": lambda t: list(t.utils.data.RandomSampler(range(4), num_samples=10)),
    "subset": lambda t: list(t.utils.data.SubsetRandomSampler([3, 5, 7, 9])),
    "split": lambda t: [list(part.indices) for part in t.utils.data.random_split(
        range(10), [7, 3])],
    "fractions": lambda t: [list(part.indices) for part in t.utils.data.random_split(
        range(11), [0.5, 0.3, 0.2], generator=t.Generator().manual_seed(3))],
    "random numbers after a walk": lambda t: [
        walk(t.utils.data.DataLoader(pairs(t), 4)), t.rand(2).tolist()],
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders_are_those_of_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(1)
        results.append(ORDERS[name](package))
    assert results[0] == results[1]


def test_a_seed_repeats_the_order() -> None:
    def order() -> list[Any]:
        generator = minigrad.Generator().manual_seed(7)
        return walk(data.DataLoader(pairs(minigrad), 3, shuffle=True, generator=generator))

    assert order() == order()


def test_collating() -> None:
    Point = namedtuple("Point", "x y")
    joined = data.default_collate([
        {"t": minigrad.ones(2), "a": np.zeros(2), "n": 1, "f": 0.5, "s": "a",
         "p": Point(1, [2, 3])},
        {"t": minigrad.zeros(2), "a": np.ones(2), "n": 2, "f": 1.5, "s": "b",
         "p": Point(4, [5, 6])},
    ])
    assert joined["t"].tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert joined["a"].dtype is minigrad.float64
    assert joined["n"].dtype is minigrad.int64
    assert (joined["f"].dtype, joined["f"].tolist()) == (minigrad.float64, [0.5, 1.5])
    assert joined["s"] == ["a", "b"]
    assert joined["p"].x.tolist() == [1, 4]
    assert [t.tolist() for t in joined["p"].y] == [[2, 5], [3, 6]]
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        data.default_collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="found <class 'object'>"):
        data.default_collate([object()])


def test_own_samplers_and_collating() -> None:
    numbers = list(range(6))
    assert list(data.DataLoader(numbers, sampler=[5, 1], batch_size=None)) == [5, 1]
    loader = data.DataLoader(numbers, batch_sampler=[[0, 5], [3]], collate_fn=sum)
    assert list(loader) == [5, 3]
    assert len(loader) == 2

    class Counting(data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(5))

    stream = data.DataLoader(Counting(), batch_size=2)
    assert [b.tolist() for b in stream] == [[0, 1], [2, 3], [4]]
    stream = data.DataLoader(Counting(), batch_size=2, drop_last=True)
    assert [b.tolist() for b in stream] == [[0, 1], [2, 3]]


def test_data_sets() -> None:
    whole = pairs(minigrad, 4) + pairs(minigrad, 2)
    assert len(whole) == 6
    assert [whole[i][1].item() for i in (0, 3, 4, 5, -1)] == [0, 9, 0, 1, 1]
    part = data.Subset(pairs(minigrad), [8, 2])
    assert [v.item() for v in part[1]] == [2, 4]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data.TensorDataset(minigrad.ones(2), minigrad.ones(3))
    with pytest.raises(NotImplementedError):
        data.Dataset()[0]


ERRORS: dict[str, Callable[[Any], Any]] = {
    "batch size": lambda d: d.DataLoader([1], batch_size=0),
    "workers": lambda d: d.DataLoader([1], num_workers=-1),
    "sampler and shuffle": lambda d: d.DataLoader([1], sampler=[0], shuffle=True),
    "batch sampler": lambda d: d.DataLoader([1], batch_sampler=[[0]], batch_size=3),
    "no batch": lambda d: d.DataLoader([1], batch_size=None, drop_last=True),
    "timeout": lambda d: d.DataLoader([1], timeout=-1),
    "empty": lambda d: d.DataLoader([], shuffle=True),
    "replacement": lambda d: d.RandomSampler([1], replacement=1),
    "split": lambda d: d.random_split([1, 2, 3], [1, 1]),
    "concat": lambda d: d.ConcatDataset([]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    with pytest.raises(Exception) as theirs:
        ERRORS[name](torch.utils.data)
    with pytest.raises(type(theirs.value)) as ours:
        ERRORS[name](data)
    assert str(ours.value) == str(theirs.value)
