"""Functions composed of ops, beside NumPy's and with their derivatives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import gradcheck, gradgradcheck


def numbers(*shape: int, low: float = 0.5, high: float = 2.0) -> Any:
    array = np.random.default_rng(5).uniform(low, high, shape)
    return torch.from_numpy(array).requires_grad_()


#: Calls that are differentiable: the function and its tensors.
SMOOTH = {
    "quantile": (lambda x: torch.quantile(x, 0.3, 1), [numbers(3, 4)]),
    "quantile of shares": (lambda x, q: torch.quantile(x, q, 0, True, interpolation="midpoint"),
                           [numbers(5, 2), numbers(2, low=0.2, high=0.8)]),
    "nanquantile": (lambda x: torch.nanquantile(x, 0.6), [numbers(3, 4)]),
    "gradient": (lambda x: torch.gradient(x, spacing=0.5, edge_order=2), [numbers(3, 4)]),
    "gradient of places": (lambda x, p: torch.gradient(x, spacing=[p.cumsum(0)], dim=1),
                           [numbers(2, 4), numbers(4)]),
    "combinations": (lambda x: torch.combinations(x, 2, True), [numbers(4)]),
    "cartesian_prod": (torch.cartesian_prod, [numbers(2), numbers(3)]),
    "renorm": (lambda x: torch.renorm(x, 2, 1, 1.5), [numbers(3, 4)]),
    "frexp": (lambda x: torch.frexp(x).mantissa, [numbers(3, low=0.6, high=0.9)]),
    "mvlgamma": (lambda x: torch.mvlgamma(x, 3), [numbers(3, low=2.0, high=4.0)]),
    "diagonal_scatter": (lambda x, s: x.diagonal_scatter(s, 1), [numbers(3, 4), numbers(3)]),
    "as_strided_scatter": (lambda x, s: x.as_strided_scatter(s, (2, 2), (1, 2), 1),
                           [numbers(3, 3), numbers(2, 2)]),
    "constant_pad_nd": (lambda x: torch.constant_pad_nd(x, (1, 0, -1, 2), 3.0), [numbers(3, 2)]),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    function, inputs = SMOOTH[name]
    assert gradcheck(function, inputs, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("name", sorted(SMOOTH.keys() - {
    "quantile of shares",  # whose values are looked at
    "as_strided_scatter",  # which looks at memory
}))
def test_examples_of_a_batch(name):
    function, inputs = SMOOTH[name]
    batches = [torch.stack([x.detach(), x.detach() * 0.9 + 0.01]) for x in inputs]
    found = torch.vmap(function)(*batches)
    for i in range(2):
        wanted = function(*(b[i] for b in batches))
        pairs = zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]
        for a, b in pairs:
            torch.testing.assert_close(a[i], b)


@pytest.mark.parametrize("way", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_are_numpys(way):
    x = np.random.default_rng(1).standard_normal((4, 7))
    found = torch.quantile(torch.from_numpy(x), torch.tensor([0.1, 0.5, 1.0], dtype=torch.float64),
                           1, interpolation=way)
    assert np.allclose(found.numpy(), np.quantile(x, [0.1, 0.5, 1.0], 1, method=way))


def test_nan_is_all_or_left_out():
    x = torch.tensor([1.0, float("nan"), 3.0])
    assert torch.quantile(x, 0.5).isnan() and torch.nanquantile(x, 0.5) == 2


def test_histograms_are_numpys():
    x, w = np.random.default_rng(2).uniform(0, 1, (2, 30, 2))
    found = torch.histogramdd(torch.from_numpy(x), [3, 4], weight=torch.from_numpy(w[:, 0]),
                              density=True)
    hist, edges = np.histogramdd(x, [3, 4], weights=w[:, 0], density=True)
    assert np.allclose(found.hist.numpy(), hist)
    assert all(np.allclose(a.numpy(), b) for a, b in zip(found.bin_edges, edges))
    edges = torch.tensor([0.0, 0.25, 1.0], dtype=torch.float64)
    found = torch.histogram(torch.from_numpy(x), edges)
    assert found.hist.tolist() == np.histogram(x, edges.numpy())[0].tolist()


def test_unravelled_indices_are_numpys():
    numbers = torch.arange(24).reshape(2, 12)
    found = torch.unravel_index(numbers, (2, 3, 4))
    for a, b in zip(found, np.unravel_index(numbers.numpy(), (2, 3, 4))):
        assert a.tolist() == b.tolist()


def test_divisors_and_multiples_are_numpys():
    a, b = np.random.default_rng(3).integers(-20, 20, (2, 50))
    assert torch.gcd(torch.tensor(a), torch.tensor(b)).tolist() == np.gcd(a, b).tolist()
    assert torch.lcm(torch.tensor(a), torch.tensor(b)).tolist() == np.lcm(a, b).tolist()


@pytest.mark.parametrize("again", [False, True])
def test_combinations_are_those_of_itertools(again):
    pick = itertools.combinations_with_replacement if again else itertools.combinations
    found = torch.combinations(torch.arange(5), 3, again)
    assert found.tolist() == [list(c) for c in pick(range(5), 3)]


def test_random_writes():
    torch.manual_seed(1)
    x = torch.zeros(4000, dtype=torch.float64)
    assert abs(x.log_normal_(0.5, 0.25).log().mean() - 0.5) < 0.02
    assert abs(x.cauchy_(2.0, 0.5).median() - 2) < 0.05
    assert abs(x.geometric_(0.25).mean() - 4) < 0.3 and x.min() == 1


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: torch.quantile(torch.ones(0), 0.5), RuntimeError, "must be non-empty"),
    (lambda: torch.quantile(torch.ones(2), 2), RuntimeError, r"in the range \[0, 1\]"),
    (lambda: torch.combinations(torch.ones(2, 2)), RuntimeError, "Expect a 1D vector"),
    (lambda: torch.gradient(torch.ones(2), edge_order=3), RuntimeError, "edge_order=1"),
    (lambda: torch.renorm(torch.ones(2), 2, 0, 1), RuntimeError, "at least 2 dimensions"),
    (lambda: torch.unravel_index(torch.ones(2), (2,)), TypeError, "integer dtype"),
    (lambda: torch.empty_permuted((2, 3), (0, 0)), RuntimeError, "Duplicate dim"),
    (lambda: torch.zeros(2).geometric_(1.0), RuntimeError, r"p to be in \(0, 1\)"),
    (lambda: torch.ones(3).narrow(0, torch.tensor(True), 1), RuntimeError, "0-dim integral"),
    (lambda: torch.Tensor.__radd__(3, torch.ones(2)), TypeError, "must be Tensor, not int"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_out_that_grows_over_an_index():
    memory = torch.tensor([2, 1, 0])
    with pytest.raises(RuntimeError, match="unsupported operation"):
        torch.gather(torch.arange(3), 0, memory[1:], out=memory[:1])
    assert memory.tolist() == [2, 1, 0]
