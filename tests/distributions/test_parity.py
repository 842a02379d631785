"""Distributions beside PyTorch's: moments, densities, divergences, samples, and their gradients."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import distributions
from tests._oracle import assert_close
from tests.distributions.cases import CASES, FURTHER, build, values_of
from tests.support.gathered import check_all
from tests.support.slow import slow_but_one_in

torch = pytest.importorskip("torch", reason="compares with PyTorch")

each = pytest.mark.parametrize("make", CASES.values(), ids=CASES)

PLAIN = ["mean", "mode", "variance", "stddev", "batch_shape", "event_shape", "has_rsample",
         "has_enumerate_support", "support", "arg_constraints", "logits", "probs", "param_shape",
         "covariance_matrix", "precision_matrix", "scale_tril", "temperature", "df", "rate"]


def attempt(function: Any) -> Any:
    """Return what a function gives, or the class and the words of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # results are compared
        try:
            return function()
        except Exception as error:
            return type(error).__name__, str(error).replace("torch.distributions", "minigrad."
                                                            "distributions")


def slopes(engine: Any, result: Any, leaves: list[Any]) -> list[Any]:
    """Return the gradients by the leaves, zeros for none, of a weighted sum of a result."""
    if not getattr(result, "requires_grad", False):
        return [np.zeros(tuple(leaf.shape)) for leaf in leaves]
    weights = engine.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape)
    finite = engine.where(engine.isfinite(result), result, engine.zeros_like(result))
    found = attempt(lambda: engine.autograd.grad(
        (finite * weights).sum(), leaves, allow_unused=True, retain_graph=True))
    if isinstance(found[0], str):
        return list(found)
    return [np.zeros(tuple(leaf.shape)) if one is None else one.numpy()
            for leaf, one in zip(leaves, found)]


def digits(make: Any) -> float:
    """Return how far results may be apart: PyTorch's VonMises has Bessel functions of 7 digits."""
    return 5e-6 if isinstance(build(minigrad, make)[0], distributions.VonMises) else 1e-7


def compare(compute: Any, gradients: bool = True, rtol: float = 1e-7) -> None:
    """Compare what `compute(engine)` gives, a result and leaves, on both engines."""
    found = []
    for engine in (minigrad, torch):
        result = attempt(lambda engine=engine: compute(engine))
        if isinstance(result[0], engine.Tensor):
            tensor, leaves = result
            found.append((tensor.detach().numpy(),
                          slopes(engine, tensor, leaves) if gradients else []))
        else:
            found.append((re.sub(r"Backward\d?", "Backward", repr(result)), []))
    (ours, our_slopes), (theirs, their_slopes) = found
    if isinstance(theirs, str):
        # PyTorch's GeneralizedPareto has no log_prob in float64: that is compared below
        if "has no attribute" in theirs or "Double did not match Float" in theirs:
            return
        assert str(ours).replace("minigrad.", "torch.") == theirs.replace("minigrad.", "torch.")
        return
    assert not isinstance(ours, str), ours
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    single = ours.dtype == "float32"  # 1 + erf(x) has an absolute error in the seventh digit
    assert_close(ours, theirs, rtol=rtol, atol=1e-7 if single else 1e-9)
    if "modified by an inplace operation" in str(their_slopes[-1:]):
        return  # PyTorch writes to a mask that its Wishart.rsample needs in backward
    for mine, other in zip(our_slopes, their_slopes):
        if isinstance(other, str):
            assert mine == other
            continue
        known = ~np.isnan(other)  # PyTorch's chosen parts bring NaN from those left out
        assert_close(mine[known], other[known], rtol=rtol, atol=1e-8)


@each
def test_properties(make):
    def check(name):
        def ask(engine):
            made, leaves = build(engine, make)
            value = getattr(made, name)
            return value, leaves if isinstance(value, engine.Tensor) else None

        if name == "mode" and isinstance(build(minigrad, make)[0], distributions.Kumaraswamy):
            return  # PyTorch's is NaN for b > 1
        # PyTorch's cholesky_inverse has slopes above the diagonal, which it does not read
        compare(ask, gradients=name != "precision_matrix", rtol=digits(make))

    check_all(check, PLAIN)


@each
@pytest.mark.parametrize("name", ["entropy", "perplexity", "enumerate_support", "__repr__"])
def test_functions_without_arguments(make, name):
    def ask(engine):
        made, leaves = build(engine, make)
        return getattr(made, name)(), leaves

    compare(ask)


@each
@pytest.mark.parametrize("name", ["log_prob", "cdf"])
def test_functions_of_a_value(make, name):
    values = values_of(minigrad, build(minigrad, make)[0])

    def ask(engine):
        made, leaves = build(engine, make)
        value = engine.from_numpy(values.copy())
        if value.is_floating_point():
            value.requires_grad_()
            leaves.append(value)
        return getattr(made, name)(value), leaves

    compare(ask, rtol=digits(make))


@each
def test_icdf(make):
    def ask(engine):
        made, leaves = build(engine, make)
        shares = engine.linspace(0.05, 0.95, 6, dtype=engine.float64, requires_grad=True)
        shares = shares.reshape(3, 2).detach().requires_grad_()
        return made.icdf(shares), [*leaves, shares]

    compare(ask)


@each
def test_expand(make):
    values = values_of(minigrad, build(minigrad, make)[0])[:3]

    def ask(engine):
        made, leaves = build(engine, make)
        wide = made.expand((3, 2))
        assert tuple(wide.batch_shape) == (3, 2) and wide.event_shape == made.event_shape
        assert type(wide) is type(made)
        return wide.log_prob(engine.from_numpy(values.copy())), leaves

    compare(ask, rtol=digits(make))

    def shown(engine):
        made = build(engine, make)[0].expand((3, 2))
        return [repr(made), str(made.support), attempt(lambda: tuple(made.mean.shape))], None

    compare(shown)


@each
@pytest.mark.parametrize("shape", [(), (7,)])
def test_samples_of_a_seed(make, shape):
    def draw(engine):
        made, _ = build(engine, make)
        engine.manual_seed(5)
        return made.sample(shape), []

    compare(draw, rtol=1e-6)


@each
def test_rsample_and_its_gradient(make):
    def draw(engine):
        made, leaves = build(engine, make)
        engine.manual_seed(5)
        return made.rsample((3,)), leaves

    approximate = any(name in str(build(torch, make)[0]) for name in (
        "Beta", "Gamma", "Chi2", "Dirichlet", "StudentT", "FisherSnedecor"))
    compare(draw, rtol=5e-3 if approximate else 1e-6)


#: Functions of values that PyTorch's GeneralizedPareto has in float32 alone.
TAILS = ["log_prob", "log_survival_function", "log_cdf", "cdf", "icdf"]


@pytest.mark.parametrize("name", TAILS)
def test_tails(name):
    def ask(engine):
        leaves = [engine.tensor(values, requires_grad=True) for values in (
            [0.5, -1.0, 0.0, 0.0], [1.0, 2.5, 0.5, 2.0], [0.3, -0.4, 1.5, -2.0])]
        made = engine.distributions.GeneralizedPareto(*leaves)
        shares = engine.tensor([[0.1], [0.35], [0.8]]).expand(3, 4)
        values = shares if name == "icdf" else made.icdf(shares).detach()
        return getattr(made, name)(values), leaves

    compare(ask, rtol=2e-4)


@pytest.mark.parametrize("name", TAILS)
def test_values_of_tails_without_a_bend(name):
    def ask(engine):
        made = engine.distributions.GeneralizedPareto(
            0.5, engine.tensor([1.0, 2.5]), engine.tensor([0.0, -1.0]))
        shares = engine.tensor([[0.0], [0.35], [0.8]]).expand(3, 2)
        return getattr(made, name)(shares if name == "icdf" else made.icdf(shares)), []

    compare(ask, rtol=2e-5)


PAIRS = {name: make for name, make in {**CASES, **FURTHER}.items() if "of numbers" not in name}

@pytest.mark.parametrize("first", slow_but_one_in(2, PAIRS))
def test_divergences(first):
    p = build(minigrad, PAIRS[first])[0]
    if isinstance(p, distributions.Wishart):
        return  # PyTorch's of Wishart's is wrong: it adds up terms of other elements of the batch

    def check(second):
        if p.event_shape != build(minigrad, PAIRS[second])[0].event_shape:
            return

        def ask(engine):
            p, leaves = build(engine, PAIRS[first])
            q, more = build(engine, PAIRS[second])
            return engine.distributions.kl_divergence(p, q), leaves + more

        compare(ask)

    check_all(check, PAIRS)


def test_the_registered_pairs_are_pytorchs():
    from torch.distributions import kl
    there = {(p.__name__, q.__name__) for p, q in kl._KL_REGISTRY}
    here = {(p.__name__, q.__name__) for p, q in distributions.kl.REGISTRY
            if getattr(distributions, p.__name__, None) is p}  # not those of docstrings' examples
    assert here and here <= there
    left_out = {name for pair in there - here for name in pair} - set(distributions.__all__)
    assert all(set(pair) & left_out for pair in there - here)
