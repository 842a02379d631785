"""Initial values and random fills: PyTorch's numbers, with PyTorch's generator state afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from tests.support.slow import slow_but_one_in

DTYPES = ["float32", "float64", "float16"]
SIZES = [*range(1, 41), 1000]

FILLS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform_": lambda i, t: i.uniform_(t, -1, 2),
    "uniform_ of tensor": lambda i, t: t.uniform_(0.5, 3),
    "normal_": lambda i, t: i.normal_(t),
    "normal_ scaled": lambda i, t: i.normal_(t, 100.0, 0.5),
    "trunc_normal_": lambda i, t: i.trunc_normal_(t, std=0.5, a=-0.6, b=0.7),
    "bernoulli_": lambda i, t: t.bernoulli_(0.3),
    "exponential_": lambda i, t: t.exponential_(2.0),
    "random_": lambda i, t: t.random_(0, 100),
}

#: Where the filled tensor lies in memory.
PLACES: dict[str, Callable[[Any, int, Any], Any]] = {
    "whole": lambda t, n, dtype: t.zeros(n, dtype=dtype),
    "matrix": lambda t, n, dtype: t.zeros(n, 3, dtype=dtype),
    "transposed": lambda t, n, dtype: t.zeros(n, 4, dtype=dtype).t(),
    "strided": lambda t, n, dtype: t.zeros(2 * n, dtype=dtype)[::2],
    "permuted": lambda t, n, dtype: t.zeros(3, n, 2, dtype=dtype).permute(2, 0, 1),
    "inside": lambda t, n, dtype: t.zeros(n, 2, 5, dtype=dtype)[:, :, 1:4],
    "offset": lambda t, n, dtype: t.zeros(n + 2, dtype=dtype)[1:-1],
}


def within(mine: Any, other: Any, units: float) -> None:
    """Check that two arrays differ by some units in the last place of their numbers."""
    assert mine.dtype == other.dtype
    apart = np.abs(mine.astype("float64") - other.astype("float64"))
    allowed = units * np.spacing(np.maximum(np.abs(other), 1e-3).astype(other.dtype))
    assert (apart <= allowed.astype("float64")).all()


def filled(package: Any, fill: str, place: str, dtype: str) -> list[tuple[Any, Any]]:
    """Return what a fill writes into tensors of all sizes, and the generator's state after each."""
    package.manual_seed(5)
    found = []
    for size in SIZES:
        tensor = PLACES[place](package, size, getattr(package, dtype))
        assert FILLS[fill](package.nn.init, tensor) is tensor
        found.append((tensor.numpy().copy(), package.get_rng_state().numpy().copy()))
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fill", slow_but_one_in(3, FILLS))
def test_fills_are_those_of_pytorch(fill: str, place: str, dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    exact = dtype != "float64" or fill in ("uniform_", "uniform_ of tensor", "bernoulli_",
                                           "random_")
    runs = (filled(package, fill, place, dtype) for package in (minigrad, torch))
    for (mine, state), (other, its_state) in zip(*runs, strict=True):
        within(mine, other, 0 if exact else 4)
        assert (state == its_state).all()


@pytest.mark.parametrize("like", ["rand_like", "randn_like", "randint_like"])
@pytest.mark.parametrize("place", PLACES)
def test_numbers_beside_a_tensor_are_those_of_pytorch(like: str, place: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(2)
        high = [10] if like == "randint_like" else []
        results.append([getattr(package, like)(PLACES[place](package, n, package.float32), *high)
                        .numpy() for n in (1, 3, 7, 16, 40)])
    for mine, other in zip(*results, strict=True):
        assert (mine == other).all()


INITIALISERS: dict[str, Callable[[Any, Any], Any]] = {
    "constant_": lambda i, t: i.constant_(t, 0.3),
    "ones_": lambda i, t: i.ones_(t),
    "zeros_": lambda i, t: i.zeros_(t),
    "eye_": lambda i, t: i.eye_(t),
    "trunc_normal_ far": lambda i, t: i.trunc_normal_(t, mean=0.0, std=1.0, a=1.0, b=2.5),
    "xavier_uniform_": lambda i, t: i.xavier_uniform_(t, gain=2.0),
    "xavier_normal_": lambda i, t: i.xavier_normal_(t),
    "kaiming_uniform_": lambda i, t: i.kaiming_uniform_(t, mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_": lambda i, t: i.kaiming_normal_(t, a=0.1),
    "orthogonal_": lambda i, t: i.orthogonal_(t, gain=1.5),
    "sparse_": lambda i, t: i.sparse_(t, 0.4, std=2.0),
    "dirac_": lambda i, t: i.dirac_(t),
    "dirac_ grouped": lambda i, t: i.dirac_(t, groups=2),
}
SHAPES = [(6, 4), (4, 9), (1, 1), (2, 3, 3), (4, 2, 3, 2), (6, 1, 2, 1, 3), (40, 25)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", INITIALISERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_initialisers_are_those_of_pytorch(name: str, shape: tuple[int, ...], dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(11)
        tensor = package.empty(shape, dtype=getattr(package, dtype), requires_grad=True)
        try:
            assert INITIALISERS[name](package.nn.init, tensor) is tensor
        except ValueError as error:
            results.append((str(error), None))
            continue
        assert tensor.grad_fn is None
        results.append((tensor.detach().numpy(), package.get_rng_state().numpy()))
    (mine, state), (other, its_state) = results
    if isinstance(other, str):
        assert mine == other
    elif name == "orthogonal_":  # through LAPACK
        digits = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(mine, other, rtol=digits, atol=digits)
    else:
        within(mine, other, 4)
        assert (state == its_state).all()


OTHER: dict[str, Callable[[Any], Any]] = {
    **{f"gain of {name}": lambda t, name=name: t.nn.init.calculate_gain(name)
       for name in ("linear", "conv1d", "conv_transpose3d", "sigmoid", "tanh", "relu", "selu",
                    "leaky_relu", "nothing")},
    "gain of a slope": lambda t: t.nn.init.calculate_gain("leaky_relu", 0.3),
    "gain of a wrong slope": lambda t: t.nn.init.calculate_gain("leaky_relu", "x"),
    "gain of a flag": lambda t: t.nn.init.calculate_gain("leaky_relu", True),
    "fans of a vector": lambda t: t.nn.init.xavier_normal_(t.ones(3)),
    "mode": lambda t: t.nn.init.kaiming_normal_(t.ones(3, 3), mode="most"),
    "nonlinearity": lambda t: t.nn.init.kaiming_uniform_(t.ones(3, 3), nonlinearity="most"),
    "orthogonal vector": lambda t: t.nn.init.orthogonal_(t.ones(3)),
    "orthogonal nothing": lambda t: t.nn.init.orthogonal_(t.ones(0, 3)).tolist(),
    "sparse cube": lambda t: t.nn.init.sparse_(t.ones(2, 2, 2), 0.1),
    "eye cube": lambda t: t.nn.init.eye_(t.ones(2, 2, 2)),
    "dirac matrix": lambda t: t.nn.init.dirac_(t.ones(2, 2)),
    "dirac groups": lambda t: t.nn.init.dirac_(t.ones(3, 2, 2), 2),
    "nothing to fill": lambda t: t.nn.init.kaiming_normal_(t.ones(0, 3)).tolist(),
    "nothing to fill evenly": lambda t: t.nn.init.kaiming_uniform_(t.ones(0, 3)).tolist(),
    "far off": lambda t: len(t.nn.init.trunc_normal_(t.ones(3), mean=5.0, a=1, b=2)),
    "negative deviation": lambda t: t.nn.init.normal_(t.ones(3), std=-1),
    "bounds": lambda t: t.nn.init.uniform_(t.ones(3), 2, 1),
    "older name": lambda t: t.nn.init.constant(t.ones(2), 3).tolist(),
    "older normal": lambda t: t.nn.init.kaiming_normal(t.ones(2, 2)).shape[0],
    "fans": lambda t: list(t.nn.init._calculate_fan_in_and_fan_out(t.ones(2, 3, 4))),
    "fan": lambda t: t.nn.init._calculate_correct_fan(t.ones(2, 3, 4), "fan_in"),
    "generator": lambda t: t.nn.init.xavier_normal_(
        t.ones(2, 2), generator=t.Generator().manual_seed(3)).tolist(),
    "orthogonal generator": lambda t: [[round(x, 4) for x in row] for row in t.nn.init.orthogonal_(
        t.ones(2, 2), generator=t.Generator().manual_seed(3)).tolist()],
}


def outcome(package: Any, run: Callable[[Any], Any]) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = run(package)
        except Exception as error:
            value = type(error).__name__, str(error)
    return value, [(w.category.__name__, str(w.message)) for w in caught]


@pytest.mark.parametrize("name", OTHER)
def test_other_initialisers_and_errors_are_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    assert outcome(minigrad, OTHER[name]) == outcome(torch, OTHER[name])


def test_a_known_fill() -> None:
    minigrad.manual_seed(0)
    drawn = minigrad.nn.init.normal_(minigrad.empty(4))
    assert [round(x, 4) for x in drawn.tolist()] == [1.541, -0.2934, -2.1788, 0.5684]
