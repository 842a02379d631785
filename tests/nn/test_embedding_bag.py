"""Bags of rows beside PyTorch's, whose second gradients, which it lacks, are those of a loop."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest

import minigrad
from minigrad import nn
from tests._oracle import assert_close
from tests.support.engines import on_each_engine

ROWS = [[0.5, -1.0, 2.0], [1.5, 0.0, -2.0], [2.0, 2.0, 2.0], [0.25, 3.0, -1.0]]
INDICES, OFFSETS, FACTORS = [0, 1, 1, 3, 2, 2], [0, 2, 2, 5], [0.5, -1.0, 2.0, 3.0, 0.25, 1.5]
FLAT, TABLE = (INDICES, OFFSETS), ([INDICES[:3], INDICES[3:]], None)

CALLS: list[tuple[Any, dict[str, Any]]] = [
    *((bags, {"mode": mode, **padding}) for bags in (FLAT, TABLE) for mode in ("sum", "mean", "max")
      for padding in ({}, {"padding_idx": 1}, {"padding_idx": -2})),
    ((INDICES, [*OFFSETS, 6]), {"include_last_offset": True}),
    (FLAT, {"mode": "sum", "factors": True}),
    (TABLE, {"mode": "sum", "factors": True, "padding_idx": 1}),
    (([], [0, 0]), {"mode": "max"}), (([], []), {}),
]


def bags_of(torch: Any, bags: Any, factors: bool = False, **options: Any) -> tuple[Any, list[Any]]:
    """Return what the function gives, and the leaves."""
    input, offsets = (None if b is None else torch.tensor(b, dtype=torch.int64) for b in bags)
    leaves = [torch.tensor(ROWS, dtype=torch.float64, requires_grad=True)]
    if factors:
        leaves.append(torch.tensor(FACTORS, dtype=torch.float64, requires_grad=True))
        options["per_sample_weights"] = leaves[1].reshape(input.shape)
    return torch.nn.functional.embedding_bag(input, leaves[0], offsets, **options), leaves


def looped(bags: Any, factors: bool = False, mode: str = "mean", padding_idx: int | None = None,
           include_last_offset: bool = False) -> tuple[Any, list[Any]]:
    """Return the same of rows that are taken one by one."""
    indices, offsets = bags
    if offsets is None:
        offsets, indices = [0, len(indices[0])], [*indices[0], *indices[1]]
    leaves = [minigrad.tensor(ROWS, dtype=minigrad.float64, requires_grad=True),
              minigrad.tensor(FACTORS, dtype=minigrad.float64, requires_grad=factors)]
    ends = offsets[1:] if include_last_offset else [*offsets[1:], len(indices)]
    padding = None if padding_idx is None else padding_idx % len(ROWS)
    results = []
    for start, end in zip(offsets, ends, strict=False):
        rows = [leaves[0][indices[i]] * (leaves[1][i] if factors else 1)
                for i in range(start, end) if indices[i] != padding]
        total = minigrad.stack(rows) if rows else leaves[0][:1] * 0
        results.append(total.max(0)[0] if mode == "max" else getattr(total, mode)(0))
    return minigrad.stack(results), leaves[: 1 + factors]


def gradients(torch: Any, result: Any, leaves: list[Any]) -> list[Any]:
    weights = torch.arange(1.0, result.numel() + 1, dtype=torch.float64).reshape(result.shape)
    return list(torch.autograd.grad((weights * result * result).sum(), leaves, create_graph=True,
                                    allow_unused=True))


@pytest.mark.parametrize(("bags", "options"), CALLS)
def test_values_and_gradients_are_pytorchs(bags, options):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    ours, theirs = (bags_of(engine, bags, **options) for engine in (minigrad, torch))
    assert_close(ours[0].detach().numpy(), theirs[0].detach().numpy())
    assert ours[0].shape == theirs[0].shape
    for mine, other in zip(gradients(minigrad, *ours), gradients(torch, *theirs), strict=True):
        assert_close(mine.detach().numpy(), other.detach().numpy())


@pytest.mark.parametrize(("bags", "options"), [c for c in CALLS if c[0][0]])
def test_second_gradients_are_those_of_a_loop(bags, options):
    found = []
    for result, leaves in (bags_of(minigrad, bags, **options), looped(bags, **options)):
        firsts = gradients(minigrad, result, leaves)
        found.append([*firsts, *minigrad.autograd.grad(sum((g * g * g).sum() for g in firsts),
                                                       leaves)])
    for mine, other in zip(*found, strict=True):
        assert_close(mine.detach().numpy(), other.detach().numpy())


@on_each_engine
def test_the_first_of_equal_rows_gets_the_gradient(torch):
    table = torch.ones(3, 2, requires_grad=True)
    bags = torch.nn.functional.embedding_bag(torch.tensor([[2, 0, 1]]), table, mode="max")
    bags.sum().backward()
    assert table.grad.tolist() == [[0, 0], [0, 0], [1, 1]]


def test_frequent_rows_get_less():
    # PyTorch divides by the count of another index on the CPU.
    table = minigrad.ones(4, 1, requires_grad=True)
    bags, _ = nn.functional.embedding_bag(minigrad.tensor([[3, 1, 1], [1, 0, 3]]), table,
                                          mode="sum", scale_grad_by_freq=True)
    bags.backward()
    assert_close(table.grad.numpy()[:, 0], [0, 2 / 3, 0, 1 / 2])


def test_nan_is_the_largest_wherever_it_stands():
    table = minigrad.tensor([[1.0], [math.nan], [2.0]])
    assert nn.functional.embedding_bag(minigrad.tensor([[0, 1, 2]]), table, mode="max").isnan()


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # indices and table of a batch
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_batches_of_tables_and_of_indices(mode):
    tables = minigrad.tensor([ROWS, ROWS[::-1]])
    indices = minigrad.tensor([INDICES, INDICES[::-1]])
    offsets = minigrad.tensor(OFFSETS)

    def bags(index, table):
        return nn.functional.embedding_bag(index, table, offsets, mode=mode, padding_idx=1)

    for dims in ((0, 0), (0, None), (None, 0)):
        given = [x if d == 0 else x[0] for x, d in zip((indices, tables), dims, strict=True)]
        found = minigrad.func.vmap(bags, dims)(*given)
        for i in range(2):
            each = [x[i] if d == 0 else x for x, d in zip(given, dims, strict=True)]
            assert minigrad.equal(found[i], bags(*each))


BAG = "torch.nn.functional.embedding_bag("
ERRORS = [BAG + rest for rest in (
    "i, w, o, per_sample_weights=p)", "i, w, o, mode='other')", "i, w)", "i.reshape(1, 5), w, o)",
    "i.reshape(1, 1, 5), w)", "i, w, o + 1)", "i, w, o * 5)", "i, w, o.reshape(1, 3))",
    "i.float(), w, o)", "i, w, o.float())", "i, w, o, mode='sum', per_sample_weights=p[:2])",
    "i, w, o, mode='sum', per_sample_weights=p.double())", "i, w, o, padding_idx=4)",
    "i, w, o, padding_idx=-5)", "i + 3, w, o)", "i - 1, w, o)", "i, w[0], o)",
    "torch.zeros(2, 0, dtype=torch.int64), w)", "i, w, o[:0], include_last_offset=True)",
    "i, w.long(), o)", "i, w, o, mode='max', scale_grad_by_freq=True)")]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_pytorchs(call, request):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    request.addfinalizer(functools.partial(torch.set_num_threads, torch.get_num_threads()))
    torch.set_num_threads(1)  # of several bags with an error each thread tells its own
    found = []
    for engine in (minigrad, torch):
        names = {"i": engine.tensor([0, 1, 1, 3, 2]), "o": engine.tensor([0, 2, 2]),
                 "w": engine.ones(4, 3), "p": engine.ones(5), "torch": engine}
        with pytest.raises(Exception) as raised:
            eval(call, names)
        found.append((raised.type, str(raised.value).split("\n")[0]))
    assert found[0] == found[1]


def test_what_is_refused_or_warned_of():
    index, table = minigrad.tensor([[0, 1]]), minigrad.ones(4, 3)
    with pytest.raises(NotImplementedError, match="no sparse tensors"):
        nn.functional.embedding_bag(index, table, sparse=True)
    with pytest.warns(UserWarning, match="Argument order of nn.functional.embedding_bag"):
        nn.functional.embedding_bag(table, index)
