"""Samples of gamma and Dirichlet distributions: their numbers, and how parameters move them."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from minigrad import special
from minigrad.backend.special_pathwise import HUGE
from tests._oracle import assert_close
from tests.support.engines import leaf, on_each_engine
from tests.support.parity import outcome

#: The shape a, a sample x, and dx/da, by mpmath with 50 digits.
GAMMA = [
    (0.001, 1e-09, 2.014769392626168e-05), (0.1, 0.02, 0.7138139571438242),
    (0.5, 3.0, 2.9129424164403646), (1, 1, 1.1735630272247268), (2.5, 0.1, 0.1405497929736699),
    (2.5, 9.0, 1.891711800090848), (30, 28, 0.971282368474091), (99, 120, 1.1011183280764238),
    (150, 140, 0.9669739406065995), (150, 180, 1.0951443505765055), (500, 487, 0.987214864597326),
]

#: A sample x of Beta(a, b), the parameters, and dx/da / (1 - x), by mpmath with 50 digits.
BETA = [
    (1e-09, 0.01, 2, 1.973316686729667e-06), (0.3, 0.5, 0.5, 1.3220415512632513),
    (0.9, 0.5, 0.1, 3.93981238334218), (0.5, 1, 1, 0.6931471805599453),
    (0.2, 2, 20, 0.0726859225547766), (0.05, 2, 20, 0.03645422551164557),
    (0.97, 20, 2, 0.048075899513935615), (0.45, 99, 120, 0.0045704402744216),
    (0.5, 150, 150, 0.0033407506078152022), (0.44, 500, 600, 0.0008949549296885051),
]


def double(*values):
    return [minigrad.tensor(v, dtype=minigrad.float64) for v in values]


@pytest.mark.parametrize(("a", "x", "moved"), GAMMA)
def test_gamma_by_mpmath(a, x, moved):
    assert_close(minigrad._standard_gamma_grad(*double(a, x)).numpy(), moved, rtol=1e-12)


@pytest.mark.parametrize(("x", "a", "b", "moved"), BETA)
def test_beta_by_mpmath(x, a, b, moved):
    assert_close(minigrad._dirichlet_grad(*double(x, a, a + b)).numpy(), moved, rtol=1e-11)


def test_gamma_by_differences_of_the_incomplete_gamma_function():
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-1, 3, 200)
    x = np.maximum(rng.gamma(a), 1e-30)
    step = 1e-5 * a
    up, down = (special.gammainc(*double(a + s, x)).numpy() for s in (step, -step))
    density = np.exp((a - 1) * np.log(x) - x - special.gammaln(*double(a)).numpy())
    wanted = -(up - down) / (2 * step) / density
    inside = (up > 1e-3) & (up < 0.999)
    assert inside.sum() > 150
    found = minigrad._standard_gamma_grad(*double(a, x)).numpy()
    assert_close(found[inside], wanted[inside], rtol=1e-5)


def test_the_ways_to_compute_it_agree_where_they_meet():
    for a in (99.999, 100.001), (HUGE * 0.999, HUGE * 1.001):
        below, above = (minigrad._standard_gamma_grad(*double(v, v - v**0.5 / 2)).item() for v in a)
        assert below == pytest.approx(above, rel=1e-5)
        below, above = (minigrad._dirichlet_grad(*double(0.3 + v**-0.5 / 4, v * 0.3, v)).item() * v
                        for v in (a[0] / 0.3, a[1] / 0.3))
        assert below == pytest.approx(above, rel=1e-4)


def test_far_from_the_mean_the_density_falls_fast():
    for a in (1e3, 1e6):
        for x in (0.01 * a, 0.3 * a, 3 * a, 30 * a):
            moved = minigrad._standard_gamma_grad(*double(a, x)).item()
            # the tail is nearly exponential: log(t) hardly changes along it
            assert moved == pytest.approx(np.log(x / a) / (1 - a / x), rel=1e-2)


def test_outside_there_is_no_number():
    assert minigrad._standard_gamma_grad(*double([-1.0, 1.0], [1.0, -1.0])).isnan().all()
    assert minigrad._standard_gamma_grad(*double([1.0], [0.0])).tolist() == [0.0]
    assert minigrad._dirichlet_grad(*double([1.5, 0.5], [1.0, 3.0], [2.0, 2.0])).isnan().all()


def test_as_in_pytorch_up_to_its_approximation():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    rng = np.random.default_rng(1)
    a = 10 ** rng.uniform(-2, 3, 500)
    x = np.maximum(rng.gamma(a), 1e-30)
    theirs = torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x)).numpy()
    assert_close(minigrad._standard_gamma_grad(*double(a, x)).numpy(), theirs, rtol=2e-3)
    b = 10 ** rng.uniform(-1, 2, 500)
    a = 10 ** rng.uniform(-1, 2, 500)
    x = np.clip(rng.beta(a, b), 1e-10, 1 - 1e-10)
    theirs = torch._dirichlet_grad(*map(torch.tensor, (x, a, a + b))).numpy()
    assert_close(minigrad._dirichlet_grad(*double(x, a, a + b)).numpy(), theirs, rtol=5e-3)


@on_each_engine
def test_the_mean_gradient_is_that_of_the_mean(torch):
    torch.manual_seed(0)
    a = leaf(torch, [0.3, 2.0, 30.0], dtype=torch.float64)
    drawn = torch._standard_gamma(a.expand(20_000, 3))
    (slope,) = torch.autograd.grad(drawn.pow(2).sum() / 20_000, a)  # the mean of x**2 is a + a**2
    assert_close(slope.numpy(), 1 + 2 * a.detach().numpy(), rtol=0.05)
    a = leaf(torch, [0.5, 1.5, 3.0], dtype=torch.float64)
    drawn = torch._sample_dirichlet(a.expand(20_000, 3)) if torch is minigrad else \
        torch.distributions.Dirichlet(a).rsample((20_000,))
    (slope,) = torch.autograd.grad(drawn[:, 0].sum() / 20_000, a)
    assert_close(slope.numpy(), np.array([4.5, -0.5, -0.5]) / 25, rtol=0.05)


def test_a_dirichlet_gradient_is_that_along_the_simplex():
    minigrad.manual_seed(0)
    a = leaf(minigrad, [[0.5, 1.5, 3.0]], dtype=minigrad.float64)
    x = minigrad._sample_dirichlet(a)
    rows = [minigrad.autograd.grad(x[0, i], a, retain_graph=True)[0][0].numpy() for i in range(3)]
    jacobian = np.array(rows)  # dx_i / da_j
    assert_close(jacobian.sum(0), np.zeros(3), atol=1e-12)
    point, own = x.detach().numpy()[0], np.diagonal(jacobian)
    for j in range(3):  # the others shrink in proportion
        for i in set(range(3)) - {j}:
            assert jacobian[i, j] == pytest.approx(-own[j] * point[i] / (1 - point[j]))


@on_each_engine
def test_there_is_no_second_derivative(torch):
    a = leaf(torch, [2.0, 3.0])
    (slope,) = torch.autograd.grad(torch._standard_gamma(a).sum(), a, create_graph=True)
    with pytest.raises(RuntimeError, match="derivative for '_standard_gamma_grad' is not impl"):
        slope.sum().backward()


WORDS = """
torch._standard_gamma(torch.tensor([1]))
torch._standard_gamma(torch.tensor([1.5]).half())
torch._standard_gamma(torch.tensor([0.0]))
torch._sample_dirichlet(torch.tensor([1]))
torch._sample_dirichlet(torch.tensor([1., 2.]).half())
torch.binomial(torch.tensor([5]), torch.tensor([0.5]))
torch.binomial(torch.tensor([5.]), torch.tensor([1]))
torch.binomial(torch.tensor([5.]), torch.tensor([0.5]).double())
torch.binomial(5.0, torch.tensor([0.5]))
torch.binomial(torch.tensor([5., -1., 3., 4.]), torch.tensor([2., 0.5, -1., float('nan')]))
torch._standard_gamma_grad(torch.tensor([1.]), torch.tensor([1.]).double())
"""


@pytest.mark.parametrize("text", WORDS.strip().splitlines())
def test_words(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, text) == outcome(torch, text)


#: Names of functions, and parameters that take every branch of the methods.
DRAWN = {
    "_standard_gamma": [[0.01, 0.3, 1.0, 2.5, 10.0, 1e4]],
    "_sample_dirichlet": [[0.05, 0.3, 1.0, 2.5, 10.0, 4.0]],
    "binomial": [[3.0, 50.0, 1e3, 0.0, 1e6, 60.0], [0.2, 0.7, 0.5, 0.5, 1e-4, 0.95]],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", DRAWN)
def test_the_numbers_of_a_seed_are_pytorchs(name, dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    found = []
    for engine in (minigrad, torch):
        engine.manual_seed(3)
        engine.randn(1)  # so that half a pair of normal numbers waits
        arguments = [engine.tensor(row, dtype=getattr(engine, dtype)).repeat(40, 1)
                     for row in DRAWN[name]]
        drawn = getattr(engine, name)(*arguments)
        found.append((drawn.numpy(), engine.randn(3).tolist()))
    (ours, next_ours), (theirs, next_theirs) = found
    assert_close(ours, theirs, rtol=1e-5 if dtype == "float32" else 1e-13, atol=0)
    assert next_ours == next_theirs


def test_each_example_of_a_batch_draws_its_own():
    drawn = minigrad.vmap(lambda a: minigrad._standard_gamma(a), randomness="different")(
        minigrad.full((4, 3), 2.0))
    assert len(set(drawn.flatten().tolist())) == 12
    with pytest.raises(RuntimeError, match="randomness"):
        minigrad.vmap(lambda a: minigrad._sample_dirichlet(a))(minigrad.ones(4, 3))
