"""In-place ops that write their result themselves: the same as `forward` and a copy, or nothing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import grad
from minigrad.op.arguments import bind
from minigrad.op.inplace import apply_inplace, write_directly
from tests.support.samples import OPS, Sample, forms, samples

applying = sys.modules[apply_inplace.__module__]
DIRECT = [op for op in OPS if op.forward_inplace is not None]


def written(sample: Sample, tracked: bool):
    """Run a sample's in-place variant: what is in the target, the gradients, or the error."""
    values = bind(sample.op, sample.args, sample.kwargs)
    leaves = sample.leaves() if tracked else []
    target = values[0] = values[0].clone() if tracked else values[0]
    before, version, node = target._array.copy(), target._version, target.grad_fn
    try:
        result = apply_inplace(sample.op, values)
    except (RuntimeError, TypeError, IndexError) as error:
        np.testing.assert_array_equal(target._array, before)
        assert (target._version, target.grad_fn) == (version, node)
        return type(error), str(error)
    assert result is target
    assert target._version == version + 1
    found = [target._array]
    if target.requires_grad and not sample.op.not_implemented_derivative:
        slopes = grad(target, leaves, torch.ones_like(target), allow_unused=True)
        found += [None if g is None else g._array for g in slopes]
    return found


def both_ways(sample: Sample, tracked: bool, monkeypatch):
    """Return what the op writes itself, what is copied, and how often it wrote itself."""
    direct = []

    def counted(*args):
        direct.append(write_directly(*args))
        return direct[-1]

    results = []
    for replacement in (counted, lambda *_: False):
        with monkeypatch.context() as patched:
            patched.setattr(applying, "write_directly", replacement)
            results.append(written(sample.with_arrays(np.copy), tracked))
    return *results, sum(direct)


def check_same(direct, copied):
    assert len(direct) == len(copied)
    for a, b in zip(direct, copied, strict=True):
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


def test_the_usual_writes_are_direct():
    assert {op.__name__ for op in DIRECT} >= {
        "Add", "Sub", "Mul", "Div", "Copy", "FillNumber", "FillTensor", "Zero", "IndexPut",
        "IndexAdd", "IndexCopy", "IndexFillNumber", "IndexFillTensor", "MaskedFillNumber",
        "MaskedFillTensor", "ScatterAdd", "ScatterNumber", "ScatterSource"}


@pytest.mark.parametrize("op", DIRECT, ids=lambda op: op.__name__)
def test_both_ways_agree(op, monkeypatch):
    direct = 0
    for sample in samples(op):
        for tracked in (False, True):
            ours, copied, calls = both_ways(sample, tracked, monkeypatch)
            check_same(ours, copied)
            direct += calls
    assert direct, "it never wrote its result itself"


@pytest.mark.parametrize("op", DIRECT, ids=lambda op: op.__name__)
@pytest.mark.parametrize("layout", [change for _, change in forms()], ids=[n for n, _ in forms()])
def test_any_layout_is_written(op, layout):
    for sample in samples(op):
        placed = sample.with_arrays(lambda a: layout(np.copy(a)))
        plain = sample.with_arrays(np.copy)
        check_same(written(placed, False), written(plain, False))


@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("int64", "float32"),
                                    ("float32", "int64"), ("bool", "bool"), ("uint8", "int64")])
@pytest.mark.parametrize("op", [op for op in DIRECT if op.promote], ids=lambda op: op.__name__)
def test_other_dtypes_are_converted_or_refused(op, dtypes, monkeypatch):
    x, y = (torch.from_numpy(np.array([1, 0, 3]).astype(d)) for d in dtypes)
    ours, copied, _ = both_ways(Sample(op, (x, y), {}), False, monkeypatch)
    check_same(ours, copied)


@pytest.mark.parametrize("write", [
    lambda x: x[1:].add_(x[:-1]),
    lambda x: x.__setitem__(slice(1, None), x[:-1]),
    lambda x: x.index_put_((torch.tensor([5, 4, 3]),), x[3:]),
    lambda x: x.view(2, 3).copy_(x.view(3, 2).t()),
], ids=["add_", "setitem", "index_put_", "transposed"])
def test_what_is_written_may_not_partly_overlap_what_is_read(write):
    x = torch.arange(6.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to "
                       "tensor refer to a single memory location"):
        write(x)
    assert x.tolist() == [0, 1, 2, 3, 4, 5] and x._version == 0


READABLE = {
    "itself": (lambda x: x.mul_(x), [0, 1, 4, 9, 16, 25]),
    "a view of all": (lambda x: x.add_(x[:]), [0, 2, 4, 6, 8, 10]),
    "between": (lambda x: x[::2].add_(x[1::2]), [1, 1, 5, 3, 9, 5]),
    "backwards": (lambda x: x[::2].copy_(x[::2].flip(0)), [4, 1, 2, 3, 0, 5]),
    "fill_": (lambda x: x.fill_(x[3]), [3, 3, 3, 3, 3, 3]),
    "one in a slice": (lambda x: x.__setitem__(slice(0, 3), x[2]), [2, 2, 2, 3, 4, 5]),
    "one in a mask": (lambda x: x.__setitem__(x > 2, x[2]), [0, 1, 2, 2, 2, 2]),
    "masked_fill_": (lambda x: x.masked_fill_(x > 2, x[1]), [0, 1, 2, 1, 1, 1]),
    "index_fill_": (lambda x: x.index_fill_(0, torch.tensor([0, 3, 5]), x[3]), [3, 1, 2, 3, 4, 3]),
}


@pytest.mark.parametrize(("write", "expected"), READABLE.values(), ids=READABLE)
def test_what_is_written_may_be_what_is_read(write, expected):
    x = torch.arange(6.0)
    write(x)
    assert x.tolist() == expected


def test_one_value_may_go_to_overlapping_memory():
    x = torch.ones(3).unsqueeze(0).expand(2, 3)
    assert x.fill_(2).tolist() == [[2, 2, 2], [2, 2, 2]]
    assert x.zero_().tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1)


INDEX, MANY = torch.tensor([0, 7]), torch.ones(2, 3)
WRONG = {
    "index": lambda x: x.index_put_((INDEX,), MANY),
    "accumulate": lambda x: x.index_put_((INDEX,), MANY, accumulate=True),
    "index_add_": lambda x: x.index_add_(0, INDEX, MANY),
    "index_copy_": lambda x: x.index_copy_(0, INDEX, MANY),
    "index_fill_": lambda x: x.index_fill_(0, INDEX, 1),
    "scatter_": lambda x: x.scatter_(0, torch.tensor([[0, 7, 0]]), 1.0),
    "scatter_add_": lambda x: x.scatter_add_(0, torch.tensor([[0, 7, 0]]), MANY),
    "copy_": lambda x: x.copy_(torch.ones(5)),
    "wider": lambda x: x.add_(torch.ones(4, 2, 3)),
    "masked_fill_": lambda x: x.masked_fill_(torch.ones(4, 2, 3) > 0, 1),
    "fill_": lambda x: x.fill_(torch.ones(2)),
}


@pytest.mark.parametrize("write", WRONG.values(), ids=WRONG)
def test_a_refused_write_leaves_nothing_behind(write):
    x = torch.zeros(2, 3, requires_grad=True).clone()
    node, version = x.grad_fn, x._version
    with pytest.raises((RuntimeError, IndexError)):
        write(x)
    assert x.sum().item() == 0
    assert (x.grad_fn, x._version) == (node, version)
