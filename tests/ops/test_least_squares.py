"""Least squares beside PyTorch: all drivers, shapes, first and second gradients, errors."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from minigrad import linalg
from tests._oracle import assert_close, central_difference_vjp
from tests.support.arrays import normal
from tests.support.parity import outcome

SHAPES = [((4, 2), (4, 3)), ((4, 2), (4,)), ((3, 3), (3, 1)), ((2, 4), (2, 2)), ((2, 4), (2,)),
          ((5, 4, 2), (5, 4, 1)), ((5, 4, 2), (5, 4)), ((5, 4, 2), (1, 4, 3)),
          ((2, 1, 3, 2), (2, 3, 3, 1))]


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_results_and_gradients_are_pytorchs(shapes, driver):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    found = []
    for engine in (minigrad, torch):
        A, B = (engine.tensor(normal(*shape, seed=i), requires_grad=True)
                for i, shape in enumerate(shapes))
        result = engine.linalg.lstsq(A, B, driver=driver)
        used = [t for t in result[:2] if t.numel()]
        assert not (result.rank.requires_grad or result.singular_values.requires_grad)
        loss = sum((t * t.detach().cos()).sum() for t in used)
        firsts = engine.autograd.grad(loss, (A, B), create_graph=True)
        seconds = engine.autograd.grad(sum((g * g).sum() for g in firsts), (A, B))
        found.append([*result, *firsts, *seconds])
    for mine, other in zip(*found, strict=True):
        assert tuple(mine.shape) == tuple(other.shape)
        assert str(mine.dtype) == str(other.dtype)
        assert_close(mine.detach().numpy(), other.detach().numpy(), atol=1e-9, rtol=1e-8)


def test_gradients_are_those_of_finite_differences():
    arrays, weights = [normal(4, 2), normal(4, 1, seed=1)], normal(2, 1, seed=2)
    A, B = (minigrad.tensor(a, requires_grad=True) for a in arrays)
    found = minigrad.autograd.grad(linalg.lstsq(A, B).solution, (A, B), minigrad.tensor(weights))

    def solved(a, b):
        return np.linalg.lstsq(a, b, rcond=None)[0]

    for mine, other in zip(found, central_difference_vjp(solved, arrays, weights), strict=True):
        assert_close(mine.numpy(), other, atol=1e-6)


EXPRESSIONS = [f"str(torch.linalg.lstsq({given}))" for given in (
    "torch.ones(4, 2), torch.ones(4, 1)", "torch.ones(4, 2), torch.ones(4, 1), 0.9",
    "torch.ones(0, 2), torch.ones(0, 1)", "torch.ones(4, 0), torch.ones(4, 1)",
    "torch.ones(4), torch.ones(4)", "torch.ones(4, 2), torch.tensor(3.)",
    "torch.ones(4, 2), torch.ones(3, 2)", "torch.ones(4, 2), torch.ones(3)",
    "torch.ones(4, 2), torch.ones(4, 2).double()", "torch.ones(4, 2).int(), torch.ones(4, 2).int()",
    "torch.ones(4, 2), torch.ones(5, 4, 2)", "torch.ones(5, 4, 2), torch.ones(4, 3)",
    "torch.ones(4, 2), torch.ones(4, 1), driver='other'")]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_and_errors_are_printed_as_pytorchs(expression):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, expression) == outcome(torch, expression)


def test_forward_mode_and_batches():
    A, B = minigrad.tensor(normal(3, 4, 2)), minigrad.tensor(normal(4, 1, seed=1))
    tangent = minigrad.tensor(normal(4, 2, seed=2))

    def solved(a):
        return linalg.lstsq(a, B).solution

    found, moved = minigrad.func.jvp(solved, (A[0],), (tangent,))
    near = (solved(A[0] + 1e-6 * tangent) - solved(A[0] - 1e-6 * tangent)) / 2e-6
    assert_close(moved.numpy(), near.numpy(), atol=1e-6)
    each = minigrad.stack([solved(a) for a in A])
    assert_close(minigrad.func.vmap(solved)(A).numpy(), each.numpy())
    assert_close(found.numpy(), each[0].numpy())
