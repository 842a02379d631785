"""`autograd.functional`: strict mode, constant outputs, and graphs of its results."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import minigrad
from minigrad.op.declaration import REGISTRY, Op
from minigrad.shapes import same
from tests.support.engines import leaf, on_each_engine


def warned(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [(w.category, str(w.message), w.filename) for w in seen]


@on_each_engine
@pytest.mark.parametrize("options", [{}, {"vectorize": True}])
def test_a_jacobian_of_outputs_of_which_some_are_constant(torch, options):
    found = torch.autograd.functional.jacobian(
        lambda x: (torch.ones(3), x * 2, torch.ones(2)), torch.tensor([1.0, 2.0]), **options)
    assert [f.tolist() for f in found] == [
        [[0.0, 0.0]] * 3, [[2.0, 0.0], [0.0, 2.0]], [[0.0, 0.0]] * 2]


def test_a_jacobian_of_nothing_has_the_shape_of_the_input():
    found = minigrad.autograd.functional.jacobian(lambda x: x[:0], minigrad.ones(3))
    assert tuple(found.shape) == (0, 3)


@on_each_engine
@pytest.mark.parametrize("strategy", ["rows", "vectorize"])
def test_a_jacobian_whose_graph_meets_again(torch, strategy):
    def double(x):
        a = x.exp()
        return a * a.sum() + x[0]

    x = torch.tensor([0.0, 1.0], dtype=torch.float64)
    found = torch.autograd.functional.jacobian(double, x, vectorize=strategy == "vectorize")
    e = np.exp([0.0, 1.0])
    expected = np.diag(e) * e.sum() + np.outer(e, e) + np.array([[1.0, 0.0], [1.0, 0.0]])
    assert np.allclose(found.numpy(), expected)


@on_each_engine
def test_vjp_makes_a_graph_on_request_in_every_mode(torch):
    x = leaf(torch, [1.0, 2.0])
    for mode in True, False:
        with torch.set_grad_enabled(mode):
            out, found = torch.autograd.functional.vjp(
                lambda x: x * x, x, torch.ones(2), create_graph=True)
        assert out.requires_grad and found.requires_grad and found.tolist() == [2.0, 4.0]
        with torch.set_grad_enabled(mode):
            out, found = torch.autograd.functional.vjp(lambda x: x * x, x, torch.ones(2))
        assert not out.requires_grad and not found.requires_grad


def test_the_old_jacobians_say_that_they_are_private():
    from minigrad.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian

    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    for name, call in (
            ("get_numerical_jacobian",
             lambda **more: get_numerical_jacobian(lambda t: t[0] * 2, (x,), **more)),
            ("get_analytical_jacobian",
             lambda **more: get_analytical_jacobian((x,), x * 2, **more))):
        assert warned(call) == [(FutureWarning, (
            f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
            "deprecating it and it will be removed in a future version of PyTorch. If you have a "
            "specific use for this or feature request for this to be a stable API, please file us "
            "an issue at https://github.com/pytorch/pytorch/issues/new"), __file__)]
        with pytest.warns(FutureWarning), pytest.raises(ValueError) as caught:
            call(grad_out=2.0)
        assert str(caught.value) == (f"Expected grad_out to be 1.0. {name} no longer supports "
                                     "values of grad_out != 1.0.")


def test_a_jacobian_by_forward_mode_has_no_graph():
    x = leaf(minigrad, [1.0, 2.0])
    found = minigrad.autograd.functional.jacobian(
        lambda t: t * t, x, vectorize=True, strategy="forward-mode")
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert not found.requires_grad and found.grad_fn is None


@on_each_engine
def test_strict_products_want_outputs_that_depend(torch):
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.functional.jvp(lambda x: torch.zeros(2), torch.ones(2), torch.ones(2),
                                      strict=True)
    assert str(caught.value) == ("Output 0 of the user-provided function does not require "
                                 "gradients. The outputs must be computed in a differentiable "
                                 "manner from the input when running in strict mode.")


@on_each_engine
def test_strict_products_want_gradients_that_depend(torch):
    made = type("Made", (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: x * 1),
        "backward": staticmethod(lambda ctx, g: torch.ones(2))})
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.functional.jvp(made.apply, torch.ones(2), torch.ones(2), strict=True)
    assert str(caught.value) == (
        "The gradient with respect to input 0 is independent of the inputs of the user-provided "
        "function. This is not allowed in strict mode.")


def test_a_jacobian_where_an_op_gives_no_gradient():
    class Silent(Op):
        method = public = False
        shape = same

        def forward(xp, self):
            return self * 1

        def grad_self(g):
            return None

    def func(x):
        kept = x * 3  # made first, so that its node runs last
        return Silent(x * 2) + kept

    try:
        found = minigrad.autograd.functional.jacobian(func, minigrad.ones(2))
    finally:
        del REGISTRY["Silent"]
    assert found.tolist() == [[3.0, 0.0], [0.0, 3.0]]
