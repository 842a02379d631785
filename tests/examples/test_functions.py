"""The own Functions of lesson 01: slopes where they have one, and their useful lies."""

import pytest

import minigrad as torch
from minigrad.examples import functions

AT = torch.tensor([[-1.5, 0.25, 2.0], [0.75, -0.4, 1.25]], dtype=torch.float64)


@pytest.mark.parametrize("name", ["Exp", "Sigmoid", "Silu"])
def test_slopes_and_slopes_of_slopes(name):
    x, apply = AT.clone().requires_grad_(), getattr(functions, name).apply
    assert torch.autograd.gradcheck(apply, x) and torch.autograd.gradgradcheck(apply, x)


@pytest.mark.parametrize(("name", "same"), [
    ("Exp", torch.exp), ("Sigmoid", torch.sigmoid), ("Silu", torch.nn.functional.silu)])
def test_values_are_those_of_the_operations(name, same):
    assert torch.allclose(getattr(functions, name).apply(AT), same(AT))


def test_polar_and_back():
    x, y = AT[0].clone().requires_grad_(), AT[1].clone().requires_grad_()
    assert torch.autograd.gradcheck(functions.Polar.apply, (x, y))
    assert torch.autograd.gradgradcheck(functions.Polar.apply, (x, y))
    distance, angle = functions.Polar.apply(x, y)
    assert torch.allclose(distance * angle.cos(), x) and torch.allclose(distance * angle.sin(), y)


def test_lies():
    x = AT.clone().requires_grad_()
    y = functions.Round.apply(x * 3) + functions.GradCoeff.apply(x, -0.5)
    assert torch.allclose(y, (AT * 3).round() + AT)
    y.sum().backward()
    assert torch.allclose(x.grad, torch.full_like(x, 2.5))
    with pytest.raises(torch.autograd.GradcheckError):
        torch.autograd.gradcheck(functions.Round.apply, x)


@pytest.mark.parametrize(("name", "count"), [("Exp", 1), ("Sigmoid", 1), ("Silu", 1), ("Round", 0)])
def test_they_save_little(name, count):
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        getattr(functions, name).apply(AT.clone().requires_grad_())
    assert len(saved) == count
