"""Covariances and correlations: values, gradients and errors beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from tests._oracle import assert_close, central_difference_vjp
from tests.support.engines import on_each_engine
from tests.support.parity import outcome

X = np.random.default_rng(0).normal(size=(3, 5))
OFTEN, MUCH = np.array([1, 2, 0, 3, 1]), np.random.default_rng(1).uniform(size=5)

EXPRESSIONS = """
torch.cov(x)
x.cov(correction=0)
torch.cov(x, fweights=f)
torch.cov(x, fweights=f.int(), aweights=a)
torch.cov(x, aweights=a, correction=0)
torch.cov(x.float(), aweights=a, correction=2)
torch.cov(x[0])
torch.cov(x[:1])
torch.cov(x.float())
torch.cov((x * 9).int())
torch.cov(x.half(), aweights=a.half()).dtype
torch.cov(torch.ones(0, 3))
torch.cov(torch.ones(2, 3, 4))
torch.cov(x > 0)
torch.cov(x, correction=1.5)
torch.cov(x, fweights=a)
torch.cov(x, fweights=f > 0)
torch.cov(x, aweights=f)
torch.cov(x, fweights=f[:3])
torch.cov(x, aweights=a[:3])
torch.cov(x, fweights=f[None])
torch.cov(x, aweights=a[None])
torch.cov(x, fweights=-f)
torch.cov(x, aweights=-a)
torch.cov(x, fweights=f * 0)
torch.cov(x, aweights=a * 0)
torch.corrcoef(x)
x.float().corrcoef()
torch.corrcoef(x[0])
torch.corrcoef(torch.ones(0, 3))
torch.corrcoef(torch.ones(2, 3, 4))
torch.func.vmap(torch.cov)(torch.stack([x, x * 2]))
torch.func.vmap(torch.corrcoef)(torch.stack([x, x * 2]))
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_and_errors_are_pytorchs(expression):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    ours, theirs = (outcome(engine, expression, x=engine.tensor(X), f=engine.tensor(OFTEN),
                            a=engine.tensor(MUCH)) for engine in (minigrad, torch))
    assert ours == theirs


WAYS: dict[str, Any] = {
    "cov": lambda torch, x, a: torch.cov(x),
    "often": lambda torch, x, a: torch.cov(x, fweights=torch.tensor(OFTEN)),
    "weighted": lambda torch, x, a: torch.cov(x, aweights=a, fweights=torch.tensor(OFTEN)),
    "whole": lambda torch, x, a: torch.cov(x, aweights=a, correction=0),
    "corrcoef": lambda torch, x, a: torch.corrcoef(x),
    "of one": lambda torch, x, a: torch.corrcoef(x[0]) * a.sum(),
}


@on_each_engine
@pytest.mark.parametrize("way", WAYS)
def test_gradients(torch, way):
    x, a = (torch.tensor(v, requires_grad=True) for v in (X, MUCH))
    result = WAYS[way](torch, x, a)
    weights = np.random.default_rng(2).normal(size=tuple(result.shape))
    found = torch.autograd.grad(result, (x, a), torch.tensor(weights),
                                allow_unused=True, materialize_grads=True)

    def on_arrays(*values: Any) -> Any:
        return WAYS[way](torch, *map(torch.tensor, values)).numpy()

    for got, wanted in zip(found, central_difference_vjp(on_arrays, [X, MUCH], weights)):
        assert_close(got.numpy(), wanted, atol=1e-6, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, which `pytest.warns` lets out
@on_each_engine
@pytest.mark.parametrize("make", [lambda t, x: t.cov(x, correction=5), lambda t, x: t.cov(x[:, :1]),
                                  lambda t, x: t.corrcoef(x[0, 0])])
def test_too_few_observations_are_warned_of(torch, make):
    with pytest.warns(UserWarning, match=r"^cov\(\): degrees of freedom is <= 0\. Correction"):
        assert not make(torch, torch.tensor(X)).isfinite().any()
