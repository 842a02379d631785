"""Derivatives that PyTorch 2.13 gets wrong: here they are what differences of the function say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as torch
from tests._oracle import assert_close, central_difference_vjp
from tests.support.arrays import normal


def tangent(function: Any, x: Any, direction: Any) -> Any:
    """Return the tangent of a function of one tensor."""
    return torch.func.jvp(function, (torch.tensor(x),), (torch.tensor(direction),))[1].numpy()


def slope(function: Any, x: Any, direction: Any, eps: float = 1e-6) -> Any:
    """Return the difference quotient in a direction."""
    above, below = (function(torch.tensor(x + e * direction)).numpy() for e in (eps, -eps))
    return (above - below) / (2 * eps)


@pytest.mark.parametrize("upper", [False, True])
def test_the_tangent_of_cholesky_inverse(upper):
    def inverse(a):
        return torch.cholesky_inverse(a, upper)

    factor = np.tril(normal(3, 3)) + 3 * np.eye(3)
    direction = normal(3, 3, seed=1)
    if upper:
        factor = factor.T
    assert_close(tangent(inverse, factor, direction), slope(inverse, factor, direction), atol=1e-8)


def test_the_tangent_of_logcumsumexp_before_a_large_element():
    x, direction = normal(5), normal(5, seed=1)
    x[3] = 10000

    def scan(a):
        return torch.logcumsumexp(a, 0)

    assert_close(tangent(scan, x, direction), slope(scan, x, direction, 1e-5), atol=1e-6)


@pytest.mark.parametrize(("stride", "offset"), [((1, 2), 1), ((2, 1), 0)])
def test_the_gradient_of_as_strided_scatter(stride, offset):
    arrays, weights = [normal(3, 3), normal(2, 2, seed=1)], normal(3, 3, seed=2)

    def scattered(a, b):
        return torch.as_strided_scatter(a, b, (2, 2), stride, offset)

    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    found = torch.autograd.grad(scattered(*tensors), tensors, torch.tensor(weights))
    wanted = central_difference_vjp(
        lambda a, b: scattered(torch.tensor(a), torch.tensor(b)).numpy(), arrays, weights)
    for mine, other in zip(found, wanted, strict=True):
        assert_close(mine.numpy(), other, atol=1e-8)
