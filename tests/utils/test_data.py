"""Data sets, orders and batches, against PyTorch with the same seeds."""

from __future__ import annotations

import gc
import re
import threading
import traceback
import warnings
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.utils import data
from tests.support.engines import ENGINES, NAMES


def walk(loader: Any) -> list[Any]:
    return [[part.tolist() for part in batch] for batch in loader]


def pairs(package: Any, count: int = 10) -> Any:
    x = package.arange(count)
    return package.utils.data.TensorDataset(x, x * x)


def stream(d: Any, count: int) -> Any:
    """A stream that its workers share out among them."""

    class Counting(d.IterableDataset):
        def __iter__(self) -> Any:
            info = d.get_worker_info()
            return iter(range(count)[info.id::info.num_workers] if info else range(count))

        def __len__(self) -> int:
            return count

    return Counting


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
    "weighted": lambda t: list(t.utils.data.WeightedRandomSampler([1.0, 2.0, 3.0], 9)),
    "weighted once": lambda t: list(t.utils.data.WeightedRandomSampler(
        [1.0, 2.0, 3.0], 3, replacement=False, generator=t.Generator().manual_seed(3))),
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
    "prefetch": lambda d: d.DataLoader([1], prefetch_factor=2),
    "negative prefetch": lambda d: d.DataLoader([1], num_workers=1, prefetch_factor=-2),
    "persistent": lambda d: d.DataLoader([1], persistent_workers=True),
    "context": lambda d: d.DataLoader([1], multiprocessing_context="fork"),
    "fixed": lambda d: setattr(d.DataLoader([1]), "batch_size", 2),
    "stream and shuffle": lambda d: d.DataLoader(stream(d, 3)(), shuffle=True),
    "stream and sampler": lambda d: d.DataLoader(stream(d, 3)(), sampler=[1]),
    "stream and batches": lambda d: d.DataLoader(stream(d, 3)(), batch_sampler=[[1]]),
    "concatenated streams": lambda d: d.ConcatDataset([stream(d, 3)()]),
    "chained lists": lambda d: list(d.ChainDataset([[1]])),
    "stacked": lambda d: d.StackDataset([1], [1, 2]),
    "stacked both": lambda d: d.StackDataset([1], a=[1]),
    "stacked none": lambda d: d.StackDataset(),
    "weights": lambda d: d.WeightedRandomSampler([[1.0]], 2),
    "weighted count": lambda d: d.WeightedRandomSampler([1.0], 0),
    "weighted replacement": lambda d: d.WeightedRandomSampler([1.0], 1, 3),
    "batches": lambda d: d.BatchSampler([1], True, False),
    "dropping": lambda d: d.BatchSampler([1], 1, 3),
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


# -------------------------------------------------------------------- workers


class Noisy:
    """Samples with random numbers, as a transform would draw them."""

    def __init__(self, package: Any, count: int) -> None:
        self.package = package
        self.count = count

    def __getitem__(self, index: int) -> Any:
        info = self.package.utils.data.get_worker_info()
        return index, self.package.rand(2), info.id, self.package.initial_seed() % 2**40

    def __len__(self) -> int:
        return self.count


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("options", [
    {}, {"batch_size": 4, "shuffle": True}, {"batch_size": 3, "drop_last": True},
    {"batch_size": None}, {"batch_sampler": [[1, 2], [0], [5, 5, 5]]}, {"prefetch_factor": 7}],
    ids=str)
def test_workers_change_nothing(workers: int, options: dict[str, Any]) -> None:
    def run(**more: Any) -> Any:
        minigrad.manual_seed(4)
        loader = data.DataLoader(pairs(minigrad, 11), **options, **more)
        return walk(loader), walk(loader), minigrad.rand(2).tolist()

    alone = {k: v for k, v in options.items() if k != "prefetch_factor"}
    found = run(num_workers=workers)
    options = alone
    assert found == run()


def test_batches_come_in_order_whoever_is_slow() -> None:
    started = threading.Event()

    class Slow:
        def __getitem__(self, index: int) -> int:
            if index == 0:
                started.wait(5)
            elif index == 3:
                started.set()
            return index

        def __len__(self) -> int:
            return 8

    assert [int(b) for b in data.DataLoader(Slow(), num_workers=4)] == list(range(8))


def test_workers_draw_the_numbers_that_those_of_pytorch_draw() -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(3)
        loader = package.utils.data.DataLoader(Noisy(package, 7), 2, shuffle=True, num_workers=2)
        results.append([[part.tolist() for part in batch] for batch in loader])
    assert results[0] == results[1]


@pytest.mark.parametrize("options", [{"batch_size": 2}, {"batch_size": 2, "drop_last": True},
                                     {"batch_size": None}], ids=str)
@pytest.mark.parametrize("count", [0, 1, 5, 8])
def test_streams_are_those_of_pytorch(options: dict[str, Any], count: int) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        d = package.utils.data
        found = [[b.tolist() if hasattr(b, "tolist") else b for b in d.DataLoader(
            stream(d, count)(), num_workers=workers, **options)] for workers in (0, 2)]
        results.append(found)
    assert results[0] == results[1]


class Failing:
    """Its third sample raises."""

    def __getitem__(self, index: int) -> int:
        if index == 2:
            raise LookupError("no such sample")
        return index

    def __len__(self) -> int:
        return 5


def workers_alive() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("data loader")]


class TwoArguments(Exception):
    def __init__(self, what: str, where: str) -> None:
        super().__init__(what, where)


@pytest.mark.parametrize(("error", "raised"), [
    (KeyError("a\nb"), KeyError), (ValueError(1, 2), ValueError), (OSError(2, "no file"), OSError),
    (TwoArguments("a", "b"), RuntimeError),
], ids=lambda value: getattr(value, "__name__", type(value).__name__))
@pytest.mark.parametrize("torch", ENGINES, ids=NAMES)
def test_errors_in_workers_keep_their_class_if_it_accepts_a_text(
        torch: Any, error: Exception, raised: type[Exception]) -> None:
    class Broken(torch.utils.data.Dataset):
        def __getitem__(self, index: int) -> None:
            raise error

        def __len__(self) -> int:
            return 1

    with pytest.raises(raised, match=f"^Caught {type(error).__name__} in DataLoader worker process "
                                     r"0\.\nOriginal Traceback"):
        list(torch.utils.data.DataLoader(Broken(), num_workers=1))


def test_an_error_in_a_worker_is_raised_with_its_traceback() -> None:
    walked = iter(data.DataLoader(Failing(), num_workers=2))
    assert [int(next(walked)), int(next(walked))] == [0, 1]
    with pytest.raises(LookupError, match="no such sample") as caught:
        next(walked)
    assert str(caught.value).startswith(
        "Caught LookupError in DataLoader worker process 0.\nOriginal Traceback (most recent")
    cause = caught.value.__cause__
    assert cause is not None and cause.args == ("no such sample",)
    assert "__getitem__" in [frame.name for frame in traceback.extract_tb(cause.__traceback__)]
    del cause
    assert [int(b) for b in walked] == [3, 4]
    del walked, caught
    assert workers_alive() == []


def test_no_thread_is_left_behind() -> None:
    loader = data.DataLoader(pairs(minigrad, 50), num_workers=3)
    for _ in loader:
        break
    assert workers_alive() == []
    walked = iter(loader)
    assert len(workers_alive()) == 3
    del walked
    assert workers_alive() == []
    list(loader)
    assert workers_alive() == []
    with pytest.raises(ZeroDivisionError):
        for _ in loader:
            1 / 0
    gc.collect()
    assert workers_alive() == []


def test_workers_are_started_and_known() -> None:
    seen: list[Any] = []
    numbers = list(range(4))
    loader = data.DataLoader(numbers, num_workers=2, worker_init_fn=seen.append,
                             generator=minigrad.Generator().manual_seed(0))
    assert [int(b) for b in loader] == numbers
    assert sorted(seen) == [0, 1]
    assert data.get_worker_info() is None
    infos = list(data.DataLoader(numbers, num_workers=2, batch_size=None,
                                 collate_fn=lambda _: data.get_worker_info()))
    assert [info.id for info in infos] == [0, 1, 0, 1]
    assert {info.num_workers for info in infos} == {2}
    assert infos[1].seed == infos[0].seed + 1
    assert infos[0].dataset == numbers and infos[0].dataset is not numbers

    def broken(worker: int) -> None:
        raise ValueError(f"worker {worker} cannot start")

    with pytest.raises(ValueError, match="worker 0 cannot start"):
        list(data.DataLoader(numbers, num_workers=2, worker_init_fn=broken))


def test_a_batch_that_takes_too_long() -> None:
    released = threading.Event()

    class Stuck:
        def __getitem__(self, index: int) -> int:
            released.wait(10)
            return index

        def __len__(self) -> int:
            return 1

    walked = iter(data.DataLoader(Stuck(), num_workers=1, timeout=0.01))
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.01 seconds"):
        next(walked)
    released.set()


def test_memory_cannot_be_pinned() -> None:
    loader = data.DataLoader([1], pin_memory=True)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        assert [b.tolist() for b in loader] == [[1]]


def test_data_sets_side_by_side_and_in_a_row() -> None:
    both = data.StackDataset(list(range(4)), pairs(minigrad, 4))
    assert len(both) == 4
    assert both[2][0] == 2
    assert data.StackDataset(a=[1, 2], b=[3, 4])[1] == {"a": 2, "b": 4}
    row = stream(data, 2)() + stream(data, 3)()
    assert list(row) == [0, 1, 0, 1, 2]
    assert len(row) == 5
    part = data.Subset(data.Subset(list(range(10)), [9, 8, 7]), [2, 0])
    assert part.__getitems__([0, 1]) == [7, 9]
    assert data.default_convert([np.float32(1), "a", (np.arange(2), 3)])[0].item() == 1


class Counting(data.Dataset):
    """A data set that changes when it is read."""

    def __init__(self, held: Any = None) -> None:
        self.seen: list[int] = []
        self.values = minigrad.arange(6)
        self.held = held

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Any:
        self.seen.append(index)
        self.values[index] = -1
        return len(self.seen)


class Shrinking(data.IterableDataset):
    """PyTorch's own example: each worker sets its part of the range on its copy."""

    def __init__(self) -> None:
        self.start, self.end = 3, 7

    def __iter__(self) -> Any:
        return iter(range(self.start, self.end))


def set_part(worker: int) -> None:
    info = data.get_worker_info()
    half = (info.dataset.end - info.dataset.start) // 2
    start = info.dataset.start + worker * half
    info.dataset.start, info.dataset.end = start, start + half


def test_each_worker_changes_its_own_copy_of_the_data_set() -> None:
    counting = Counting()
    batches = list(data.DataLoader(counting, num_workers=2, batch_size=None))
    assert batches == [1, 1, 2, 2, 3, 3]
    assert counting.seen == [] and counting.values.tolist() == [0, 1, 2, 3, 4, 5]
    stream = Shrinking()
    loader = data.DataLoader(stream, num_workers=2, worker_init_fn=set_part)
    assert [int(batch) for batch in loader] == [3, 5, 4, 6]
    assert (stream.start, stream.end) == (3, 7)


def test_persistent_workers_keep_their_copies_and_others_start_anew() -> None:
    for persistent, wanted in ((True, [4, 4, 5, 5, 6, 6]), (False, [1, 1, 2, 2, 3, 3])):
        loader = data.DataLoader(Counting(), num_workers=2, batch_size=None,
                                 persistent_workers=persistent)
        assert list(loader) == [1, 1, 2, 2, 3, 3] and list(loader) == wanted


def test_what_cannot_be_copied_is_shared() -> None:
    counting = Counting(threading.Lock())
    assert len(list(data.DataLoader(counting, num_workers=2, batch_size=None))) == 6
    assert sorted(counting.seen) == [0, 1, 2, 3, 4, 5]
    fixed = data.TensorDataset(minigrad.arange(3))
    infos = data.DataLoader(fixed, num_workers=1, collate_fn=lambda _: data.get_worker_info())
    assert next(iter(infos)).dataset is fixed


@pytest.mark.parametrize(("length", "workers", "wanted"), [(3, 0, [4, 5]), (5, 0, []),
                                                           (3, 2, [4, 5, 6, 7, 8, 9, 10])])
def test_a_stream_that_yields_more_than_its_length_is_warned_of(length, workers, wanted) -> None:
    class Numbers(data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(5))

        def __len__(self) -> int:
            return int(length)

    loader = data.DataLoader(Numbers(), num_workers=workers)
    with warnings.catch_warnings(record=True) as before:
        warnings.simplefilter("always")
        batches = [batch for batch in loader]  # `list` asks for the length
    assert len(batches) == 5 * max(workers, 1) and not before
    assert len(loader) == length
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        list(loader)
    assert [int(re.search("but (\\d+) samples", str(each.message))[1]) for each in found] == wanted
    assert {each.filename for each in found} <= {__file__}


def rows() -> dict[str, Any]:
    """Return data sets of rows, and a few whose rows have to be taken one by one."""
    x = minigrad.arange(24.0).view(6, 4)
    base = data.TensorDataset(x, minigrad.arange(6), x.view(6, 2, 2).double(), x > 3)
    frozen = minigrad.nn.Parameter(x.clone(), requires_grad=False)
    return {
        "tensors": base, "one tensor": data.TensorDataset(x),
        "parameter": data.TensorDataset(frozen),
        "subset": data.Subset(base, [5, 0, 3]), "negative": data.Subset(base, range(-1, -4, -1)),
        "subset of a subset": data.Subset(data.Subset(base, [4, 2, 0, 1]), range(3)),
        "tensor of indices": data.Subset(base, minigrad.tensor([2, 1, 0])),
        "transposed": data.TensorDataset(x.t()),
        "gradients": data.TensorDataset(x.clone().requires_grad_()),
        "strided": data.TensorDataset(x[::2]),
    }


@pytest.mark.parametrize("name", rows())
@pytest.mark.parametrize("numbers", [[0], [2, 0, 2, 1], [-1, 1], [0, 3], [0, 9], (1, 0), []])
def test_rows_taken_at_once_are_those_taken_one_by_one(name: str, numbers: Any) -> None:
    dataset = rows()[name]

    def outcome(take: Callable[[], Any]) -> Any:
        try:
            batch = take()
        except Exception as error:
            return type(error), str(error)
        return [(t.tolist(), t.dtype, t.shape, t.stride(), t.requires_grad, type(t))
                for t in batch]

    loader = data.DataLoader(dataset, batch_sampler=[numbers])
    expected = outcome(lambda: data.default_collate([dataset[i] for i in numbers]))
    assert outcome(lambda: next(iter(loader))) == expected


def test_a_batch_of_rows_has_memory_of_its_own() -> None:
    x = minigrad.zeros(4, 2)
    for (batch,) in data.DataLoader(data.TensorDataset(x), batch_size=2):
        batch += 1
    assert not x.any()


def test_rows_of_a_subclass_are_taken_by_its_own_code() -> None:
    class Doubled(data.TensorDataset):
        def __getitem__(self, index: Any) -> Any:
            return tuple(2 * t for t in super().__getitem__(index))

    (batch,) = next(iter(data.DataLoader(Doubled(minigrad.arange(3)), batch_size=3)))
    assert batch.tolist() == [0, 2, 4]
