"""What errors say about a call's arguments: types, keywords and numbers, as in PyTorch."""

from __future__ import annotations

import collections
import datetime
import decimal
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.frames import type_in_error


class Own:
    """A class of a user's."""


VALUES: dict[str, Callable[[Any], Any]] = {
    "numpy.ndarray": lambda t: np.ones(2),
    "numpy.float64": lambda t: np.float64(1),
    "numpy.bool": lambda t: np.bool_(1),
    "numpy.dtypes.Float32DType": lambda t: np.dtype("f4"),
    "collections.OrderedDict": lambda t: collections.OrderedDict(),
    "collections.deque": lambda t: collections.deque(),
    "datetime.timedelta": lambda t: datetime.timedelta(1),
    "decimal.Decimal": lambda t: decimal.Decimal(1),
    "re.Pattern": lambda t: re.compile("a"),
    "Own": lambda t: Own(),
    "Counter": lambda t: collections.Counter(),
    "str": lambda t: "s",
    "NoneType": lambda t: None,
    "type": lambda t: Own,
    "builtin_function_or_method": lambda t: len,
    "torch.dtype": lambda t: t.float32,
    "torch.device": lambda t: t.device("cpu"),
    "torch.Size": lambda t: t.Size([1]),
    "torch._C.Generator": lambda t: t.Generator(),
    "Linear": lambda t: t.nn.Linear(1, 1),
    "Parameter": lambda t: t.nn.Parameter(t.ones(1)),
}


def hook(t: Any, value: Any) -> None:
    x = t.ones(2, requires_grad=True)
    x.register_hook(lambda g: value)
    (x * 2).sum().backward()


def saves(t: Any, value: Any) -> None:
    class Saves(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(value)
            return x * 2

    Saves.apply(t.ones(1, requires_grad=True))


def returns(t: Any, value: Any) -> None:
    class Returns(t.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: value)

    Returns.apply(t.ones(1, requires_grad=True)).sum().backward()


def unpacks(t: Any, value: Any) -> None:
    with t.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda packed: value):
        y = t.ones(1, requires_grad=True).exp()
    y.sum().backward()


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda t, value: t.exp(value),
    "cat": lambda t, value: t.cat(value),
    "arange": lambda t, value: t.arange(value),
    "zeros, dtype": lambda t, value: t.zeros(1, dtype=value),
    "a hook": hook, "save_for_backward": saves, "backward of a Function": returns,
    "an unpack hook": unpacks,
}


@pytest.mark.parametrize("name", VALUES)
def test_the_name_of_a_type_is_the_one_of_c(name: str) -> None:
    assert type_in_error(VALUES[name](minigrad)) == name


def text_of(engine: Any, call: Callable[[Any, Any], Any], value: Any) -> str:
    try:
        call(engine, value)
    except (TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0].replace("Backward0", "Backward")
    return "no error"


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_errors_name_types_as_in_pytorch(call: Callable[[Any, Any], Any]) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    texts = {name: tuple(text_of(engine, call, make(engine)) for engine in (minigrad, torch))
             for name, make in VALUES.items()}
    assert {name: both for name, both in texts.items() if both[0] != both[1]} == {}
    assert sum("no error" not in both for both in texts.values()) > 12


@pytest.mark.parametrize("function", [np.mean, np.sum, np.std, np.any, np.max],
                         ids=lambda function: function.__name__)
def test_numpy_functions_fail_at_their_first_keyword(function: Callable[..., Any]) -> None:
    """NumPy calls the tensor's method with `axis`, `dtype` and `out`."""
    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'axis'|must be"):
        function(minigrad.ones(2))


@pytest.mark.parametrize(("call", "named"), [
    (lambda x: x.sum(axis=0, out=None), "axis"), (lambda x: x.sum(dim=0, odd=1, axis=0), "odd"),
    (lambda x: x.mean(keepdims=True, dtype=None, out=None), "keepdims"),
    (lambda x: x.softmax(axis=0, there=1), "axis"), (lambda x: x.exp(there=1), "there"),
], ids=["axis", "dim", "keepdims", "softmax", "exp"])
def test_the_first_unknown_keyword_is_named(call: Callable[[Any], Any], named: str) -> None:
    with pytest.raises(TypeError, match=f"got an unexpected keyword argument '{named}'"):
        call(minigrad.ones(2))


BEYOND = {"the smallest too large": 2**64, "a very large one": 10**400}
WITH_NUMBERS: dict[str, Callable[[Any, Any, int], Any]] = {
    "+": lambda t, x, n: x + n, "-": lambda t, x, n: n - x, "*": lambda t, x, n: x * n,
    "/": lambda t, x, n: x / n, "r/": lambda t, x, n: n / x, "<": lambda t, x, n: x < n,
    "==": lambda t, x, n: x == n, "fmod": lambda t, x, n: t.fmod(x, n),
    "clamp": lambda t, x, n: x.clamp(max=n), "where": lambda t, x, n: t.where(x > 0, n, x),
    "add_": lambda t, x, n: x.add_(n), "mul with grad": lambda t, x, n: x * n,
}


@pytest.mark.parametrize("dtype", ["float32", "int64", "int8"])
@pytest.mark.parametrize("number", [*BEYOND.values(), *(-n for n in BEYOND.values())],
                         ids=[*BEYOND, *(f"minus {name}" for name in BEYOND)])
def test_integers_of_more_than_64_bits_overflow(number: int, dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")

    def came(engine: Any, call: Callable[[Any, Any, int], Any]) -> str:
        x = engine.ones(1, dtype=getattr(engine, dtype))
        if dtype == "float32":
            x = x.requires_grad_() * 1
        try:
            return str(call(engine, x, number))
        except (OverflowError, RuntimeError) as error:
            return f"{type(error).__name__}: {error}"

    found = {name: (came(minigrad, call), came(torch, call)) for name, call in WITH_NUMBERS.items()}
    assert {name: both for name, both in found.items() if both[0] != both[1]} == {}


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, -2**63])
def test_integers_of_64_bits_are_numbers(number: int) -> None:
    assert (minigrad.zeros(1) + number).item() == float(np.float32(number))
