"""Numbers written to a tensor whose dtype cannot hold them raise PyTorch's error, never wrap."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad

DTYPES = "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "bool"
NUMBERS = (300, -1, -40000, 2**31, -2**40, 2**63, 1.5, -1.5, 1e40, float("nan"), float("inf"))
WRITES = {
    "an element": lambda t, x, n: x.__setitem__(0, n),
    "a slice": lambda t, x, n: x.__setitem__(slice(1), n),
    "elements by index": lambda t, x, n: x.__setitem__(t.tensor([1, 0]), n),
    "elements by mask": lambda t, x, n: x.__setitem__(t.tensor([True, False]), n),
    "fill": lambda t, x, n: x.fill_(n),
    "masked_fill": lambda t, x, n: x.masked_fill_(t.tensor([True, False]), n),
    "index_fill": lambda t, x, n: x.index_fill_(0, t.tensor([1]), n),
    "scatter": lambda t, x, n: x.scatter_(0, t.tensor([1]), n),
}
RESULTS = {
    "full": lambda t, x, n: t.full((2,), n, dtype=x.dtype),
    "full_like": lambda t, x, n: t.full_like(x, n),
    "where": lambda t, x, n: t.where(t.tensor([True, False]), x, n),
    "clamp from below": lambda t, x, n: x.clamp(min=n),
    "clamp from above": lambda t, x, n: x.clamp(max=n),
}
#: float16 is infinite instead in some of PyTorch's functions; and these promote bool otherwise.
ELSEWHERE = {("full_like", "float16"), ("where", "float16"), ("clamp from below", "bool"),
             ("clamp from above", "bool"), ("where", "bool")}


def came_of(engine: Any, run: Any, dtype: str, number: Any, writes: bool) -> str:
    """Return the result of a write or a function as text, or the text of its error."""
    x = engine.ones(2, dtype=getattr(engine, dtype))
    try:
        result = run(engine, x, number)
    except (RuntimeError, ValueError, OverflowError) as error:
        return str(error)
    return str(x if writes else result)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("what", [*WRITES, *RESULTS])
def test_numbers_that_do_not_fit_raise_as_in_pytorch(what, dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    run = WRITES.get(what) or RESULTS[what]
    found = {}
    for number in NUMBERS:
        if (what, dtype) in ELSEWHERE and not -1 <= number <= 300:
            continue
        ours, theirs = (came_of(engine, run, dtype, number, what in WRITES)
                        for engine in (minigrad, torch))
        if ours != theirs:
            found[number] = ours, theirs
    assert not found


@pytest.mark.parametrize("what", WRITES)
def test_a_refused_number_leaves_the_tensor_as_it_is(what):
    for dtype, number in (("int8", 300), ("int64", float("nan")), ("int64", 2**63)):
        x = minigrad.ones(2, dtype=getattr(minigrad, dtype))
        with pytest.raises((RuntimeError, ValueError)):
            WRITES[what](minigrad, x, number)
        assert x.tolist() == [1, 1]
