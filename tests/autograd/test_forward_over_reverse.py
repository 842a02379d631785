"""Tangents of gradients, where values are written in place: all ways to them, by differences."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support.engines import on_each_engine

# PyTorch's own forward mode gives it
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning",
                                        "ignore:There is a performance drop")

X, T = np.array([0.3, -0.2, -1.3]), np.array([-0.6, 0.3, 0.9])

#: What is written to `w`, a copy of `x`.
WRITES: dict[str, Any] = {
    "a power": lambda torch, w, x: w.pow_(3),
    "what saves its input": lambda torch, w, x: w.sin_(),
    "what saves its output": lambda torch, w, x: w.mul_(x).tanh_(),
    "one after the other": lambda torch, w, x: w.addcmul_(x, x).cos_().pow_(2).add_(x, alpha=2),
    "a part": lambda torch, w, x: w[1:].pow_(2),
    "a part, then the whole": lambda torch, w, x: (w[1:].sin_(), w.mul_(3)),
    "one element": lambda torch, w, x: w[0].mul_(x[1]),
    "a view of a view": lambda torch, w, x: w.view(-1)[:2].div_(x[1:] * 2),
    "a copy to a part": lambda torch, w, x: (w[1:].copy_(x[:2]), w.sigmoid_()),
    "along the dimension": lambda torch, w, x: (
        w.cumsum_(0), w.index_add_(0, torch.tensor([0]), x[:1] * x[:1]), w.lerp_(x, 0.3)),
    "a mask": lambda torch, w, x: (w.copy_(x * x), w.masked_fill_(x > 0, 0.5), w.pow_(2)),
}
on_each_write = pytest.mark.parametrize("name", WRITES)


def loss(torch: ModuleType, name: str) -> Any:
    """Return the function of `x` that writes and takes the sum of squares."""
    def function(x: Any) -> Any:
        w = x * 1.0
        WRITES[name](torch, w, x)
        return (w * w).sum()

    return function


def slope(torch: ModuleType, name: str) -> Any:
    """Return how the gradient changes along `T`, by central differences."""
    def gradient(values: Any) -> Any:
        x = torch.tensor(values, requires_grad=True)
        return torch.autograd.grad(loss(torch, name)(x), x)[0].numpy()

    return (gradient(X + 1e-6 * T) - gradient(X - 1e-6 * T)) / 2e-6


def check(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.detach().numpy(), expected, 1e-6, 1e-6)


@on_each_engine
@on_each_write
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_gradient_of_a_dual_has_a_tangent(torch, name, create_graph):
    forward_ad = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with forward_ad.dual_level():
        x = torch.tensor(X, requires_grad=True)
        value = loss(torch, name)(forward_ad.make_dual(x, torch.tensor(T)))
        gradient, = torch.autograd.grad(value, x, create_graph=create_graph)
        check(forward_ad.unpack_dual(gradient).tangent, slope(torch, name))


@on_each_engine
@on_each_write
def test_the_gradient_of_a_tangent(torch, name):
    forward_ad = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with forward_ad.dual_level():
        x = torch.tensor(X, requires_grad=True)
        value = loss(torch, name)(forward_ad.make_dual(x, torch.tensor(T)))
        gradient, = torch.autograd.grad(forward_ad.unpack_dual(value).tangent, x)
        check(gradient, slope(torch, name))


@on_each_engine
@on_each_write
def test_hessians(torch, name):
    func = importlib.import_module(torch.__name__ + ".func")
    x, t, function = torch.tensor(X), torch.tensor(T), loss(torch, name)
    expected = slope(torch, name)
    check(func.hessian(function)(x) @ t, expected)
    check(func.jacfwd(func.grad(function))(x) @ t, expected)
    check(func.jvp(func.grad(function), (x,), (t,))[1], expected)
    check(torch.autograd.functional.hessian(
        function, x, vectorize=True, outer_jacobian_strategy="forward-mode") @ t, expected)


#: Of a dual tensor `d` and rows `y`: batches that meet tangents which are not batched.
BATCHES: dict[str, Any] = {
    "a product": lambda torch, d, y: torch.vmap(lambda y: d * y)(y),
    "several steps": lambda torch, d, y: torch.vmap(lambda y: (d * y).sin().sum() * d)(y),
    "a batch of duals": lambda torch, d, y: torch.vmap(lambda a: a.sin() * a.sum())(d[None] * y),
    "a list": lambda torch, d, y: torch.vmap(lambda y: torch.cat([y, d]))(y),
    "a write": lambda torch, d, y: torch.vmap(lambda y: (y * 1.0).mul_(d))(y),
    "a batched backward pass": lambda torch, d, y: torch.autograd.grad(
        d * d * d, d, torch.eye(3, dtype=d.dtype), is_grads_batched=True)[0],
}


@on_each_engine
@pytest.mark.parametrize("name", BATCHES)
def test_tangents_pass_through_batches(torch, name):
    forward_ad = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    y = torch.tensor(np.array([X, T]))

    def run(values: Any) -> Any:
        return BATCHES[name](torch, torch.tensor(values, requires_grad=True), y).detach().numpy()

    with forward_ad.dual_level():
        d = forward_ad.make_dual(torch.tensor(X, requires_grad=True), torch.tensor(T))
        found = forward_ad.unpack_dual(BATCHES[name](torch, d, y)).tangent
        check(found, (run(X + 1e-6 * T) - run(X - 1e-6 * T)) / 2e-6)


@on_each_engine
def test_out_takes_no_tangents(torch):
    forward_ad = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with forward_ad.dual_level():
        d, y = forward_ad.make_dual(torch.tensor(X), torch.tensor(T)), torch.tensor(X)
        for of, out in ((d, y), (y, d)):
            with pytest.raises(NotImplementedError, match="forward AD with exp_out that does not"):
                torch.exp(of, out=out)
        assert torch.exp(y, out=torch.zeros(3, dtype=y.dtype)).tolist() == y.exp().tolist()
