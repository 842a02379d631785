"""Writes to tensors that a differentiated function captures are rejected, as in PyTorch."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import minigrad as torch
from minigrad import func

x = torch.tensor([1.0, 2.0])
shared = torch.zeros(2)

TRANSFORMS = {
    "grad": lambda f: func.grad(f)(x),
    "vjp": lambda f: func.vjp(f, x),
    "jvp": lambda f: func.jvp(f, (x,), (x,)),
    "jacrev": lambda f: func.jacrev(f)(x),
    "jacfwd": lambda f: func.jacfwd(f)(x),
    "hessian": lambda f: func.hessian(f)(x),
}


def write_to(target: Any, y: Any) -> Any:
    target[0] = y[0]
    return y.sum()


def writes() -> dict[str, tuple[Any, Any]]:
    """Return functions that write to a tensor outside of them, and that tensor."""
    z = torch.zeros(2)
    table = {"inside": [z]}

    def to_global(y: Any) -> Any:
        shared.copy_(y)
        return y.sum()

    def to_view(y: Any) -> Any:
        z.view(2)[1:].add_(y[0])
        return y.sum()

    def by_helper(y: Any) -> Any:
        return write_to(z, y)

    return {
        "a variable of the closure": (lambda y: (z.copy_(y), y.sum())[1], z),
        "a global": (to_global, shared),
        "a view": (to_view, z),
        "by a helper": (by_helper, z),
        "an element of a list": (lambda y: (table["inside"][0].mul_(y), y.sum())[1], z),
        "a default": (lambda y, z=z: (z.add_(y), y.sum())[1], z),
        "a partial": (functools.partial(write_to, z), z),
    }


@pytest.mark.parametrize("name", writes())
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_write_to_a_captured_tensor_raises(transform, name):
    function, target = writes()[name]
    with pytest.raises(RuntimeError, match=r"\(vjp, jvp, grad, etc\) transform.* captured Tensor"):
        TRANSFORMS[transform](function)
    assert target.tolist() == [0, 0] and not target.requires_grad


def test_an_inner_derivative_must_not_write_to_an_outer_ones_tensor():
    def outer(y: Any) -> Any:
        w = y * 1
        return func.grad(lambda v: (w.mul_(v), v.sum())[1])(y).sum()

    with pytest.raises(RuntimeError, match="captured Tensor"):
        func.grad(outer)(x)


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # of a rule in a loop
@pytest.mark.parametrize("transform", ["grad", "vjp", "jvp", "jacrev", "jacfwd"])
def test_a_write_to_an_own_tensor_is_differentiated(transform):
    def own(y: Any) -> Any:
        z = torch.zeros(2)
        z.copy_(y)
        z[0] = y[1] * 3
        z.mul_(y)
        return z.sum()

    TRANSFORMS[transform](own)
    assert func.grad(own)(x).tolist() == [6, 7]


def test_a_tensor_that_the_function_assigns_is_its_own():
    z = None

    def assigns(y: Any) -> Any:
        nonlocal z
        z = torch.zeros(2)
        z.copy_(y)
        return (z * z).sum()

    assert func.grad(assigns)(x).tolist() == [2, 4]
