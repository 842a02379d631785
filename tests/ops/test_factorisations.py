"""LU, LDL and Householder's reflections: what they multiply to, derivatives, PyTorch's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import linalg
from minigrad.autograd import gradcheck, gradgradcheck
from tests._oracle import assert_close
from tests.support.arrays import normal
from tests.support.parity import outcome
from tests.support.slow import slow_but

SHAPES = [(3, 3), (2, 4), (4, 2), (1, 1), (0, 0), (0, 2), (2, 0), (5, 3, 3), (2, 1, 4, 3),
          (0, 3, 3)]


def leaf(*shape: int, seed: int = 0) -> Any:
    return minigrad.tensor(normal(*shape, seed=seed), requires_grad=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_lu_multiplies_to_the_matrix(shape):
    a = minigrad.tensor(normal(*shape))
    P, L, U = linalg.lu(a)
    assert_close((P @ L @ U).numpy(), a.numpy())
    assert bool((L.abs() <= 1).all()) and bool((L.diagonal(0, -2, -1) == 1).all())
    assert bool((U.tril(-1) == 0).all()) and bool((P.sum(-1) == 1).all())


@pytest.mark.parametrize("shape", slow_but(3, map(pytest.param, [
    (3, 3), (2, 4), (4, 2), (2, 3, 3), (2, 2, 3), (2, 4, 3)])))
def test_derivatives_of_lu(shape):
    def parts(a):
        return linalg.lu(a)[1:]

    def factors(a):
        return linalg.lu_factor(a).LU

    for function in (parts, factors):
        assert gradcheck(function, leaf(*shape), check_forward_ad=True)
        assert gradgradcheck(function, leaf(*shape))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("shapes", slow_but(1, map(pytest.param, [
    ((3, 3), (3, 3)), ((2, 3, 3), (3, 3)), ((3, 3), (2, 3, 3))])))
def test_derivatives_of_lu_solve(left, adjoint, shapes):
    def solved(a, b):
        return linalg.lu_solve(*linalg.lu_factor(a), b, left=left, adjoint=adjoint)

    a, b = leaf(*shapes[0]), leaf(*shapes[1], seed=1)
    matrix = a.mT if adjoint else a
    x = solved(a, b)
    assert_close((matrix @ x if left else x @ matrix).detach().numpy(),
                 b.expand(x.shape).detach().numpy())
    assert gradcheck(solved, (a, b), check_forward_ad=True)
    assert gradgradcheck(solved, (a, b))


def test_lu_of_many_rows_is_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    for array in (normal(150, 120), normal(3, 40, 70), np.round(normal(12, 12)), np.zeros((3, 3))):
        mine = linalg.lu_factor_ex(minigrad.tensor(array))
        other = torch.linalg.lu_factor_ex(torch.tensor(array))
        assert_close(mine.LU.numpy(), other.LU.numpy(), atol=1e-10)
        assert mine.pivots.tolist() == other.pivots.tolist()
        assert mine.info.tolist() == other.info.tolist()


# -------------------------------------------------------------------- LDL


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 90])
@pytest.mark.parametrize("diagonal", [1.0, 0.05, 0.0])
def test_ldl_is_pytorchs(n, diagonal):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    array = normal(2, n, n, seed=n)
    array[:, range(n), range(n)] *= diagonal
    if n == 1 and not diagonal:
        array[:] = 3.0
    right = normal(n, 2)
    found = []
    for engine in (minigrad, torch):
        LD, pivots = engine.linalg.ldl_factor(engine.tensor(array))
        X = engine.linalg.ldl_solve(LD, pivots, engine.tensor(right))
        found.append((LD.numpy(), pivots.numpy(), X.numpy()))
    for mine, other in zip(*found, strict=True):
        assert_close(mine, other, atol=1e-9, rtol=1e-8)
    lower = np.tril(array)
    symmetric = lower + np.tril(lower, -1).swapaxes(-1, -2)
    assert_close(symmetric @ found[0][2], np.broadcast_to(right, (2, n, 2)), atol=1e-8)


def test_a_zero_in_d():
    zeros = minigrad.zeros(2, 3, 3)
    zeros[1] = minigrad.eye(3)
    assert linalg.ldl_factor_ex(zeros).info.tolist() == [1, 0]
    for function in (linalg.ldl_factor, lambda a: linalg.ldl_factor_ex(a, check_errors=True)):
        with pytest.raises(linalg.LinAlgError):
            function(zeros)


# -------------------------------------------------------------------- reflections


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3), (0, 0), (3, 0)])
def test_geqrf_and_its_reflections_multiply_to_the_matrix(shape):
    a = minigrad.tensor(normal(*shape))
    packed, tau = minigrad.geqrf(a)
    m, n = shape[-2:]
    k = min(m, n)
    Q = linalg.householder_product(packed[..., :k], tau)
    assert_close((Q @ packed[..., :k, :].triu()).numpy(), a.numpy())
    back = minigrad.ormqr(packed, tau, a, transpose=True)
    assert_close(back.numpy(), packed.triu().numpy(), atol=1e-12)


@pytest.mark.parametrize(("m", "n", "k"), slow_but(1, [(3, 2, 0), (3, 3, 3), (4, 3, 3), (4, 3, 1)]))
def test_derivatives_of_reflections(m, n, k):
    vectors, tau = leaf(2, m, n), leaf(2, k, seed=1)
    assert gradcheck(linalg.householder_product, (vectors, tau), check_forward_ad=True)
    assert gradgradcheck(linalg.householder_product, (vectors, tau))
    for left in (True, False):
        for transpose in (True, False):
            def turned(v, t, x, left=left, transpose=transpose):
                return minigrad.ormqr(v, t, x, left, transpose)

            x = leaf(2, *((m, 2) if left else (2, m)), seed=2)
            assert gradcheck(turned, (vectors, tau, x), check_forward_ad=True)
            assert gradgradcheck(turned, (vectors, tau, x))


def test_geqrf_has_no_derivative():
    with pytest.raises(NotImplementedError, match="the derivative for 'geqrf' is not implemented"):
        minigrad.geqrf(leaf(3, 3)).a.sum().backward()
    with pytest.raises(NotImplementedError, match="forward AD with geqrf"):
        minigrad.func.jvp(minigrad.geqrf, (minigrad.ones(2, 2),), (minigrad.ones(2, 2),))


def test_reflections_whose_tau_is_zero_do_nothing():
    vectors = minigrad.tensor(normal(3, 3))
    assert linalg.householder_product(vectors, vectors.new_zeros(3)).tolist() == (
        minigrad.eye(3).tolist())


# -------------------------------------------------------------------- batches, errors, texts


def test_vmap():
    a, b = minigrad.tensor(normal(4, 3, 3)), minigrad.tensor(normal(3, 2, seed=1))

    def solved(x):
        return linalg.lu_solve(*linalg.lu_factor(x), b)

    assert_close(minigrad.func.vmap(solved)(a).numpy(), linalg.solve(a, b.expand(4, 3, 2)).numpy())
    tau = minigrad.tensor(normal(4, 3, seed=2))
    assert_close(minigrad.func.vmap(linalg.householder_product)(a, tau).numpy(),
                 linalg.householder_product(a, tau).numpy())


A = "torch.tensor([[1., 2.], [3., 5.]])"
EXPRESSIONS = [
    *(f"str(torch.{call})" for call in (
        f"linalg.lu({A})", f"linalg.lu_factor({A})", f"linalg.lu_factor_ex({A})",
        f"lu_unpack(*torch.linalg.lu_factor({A}), unpack_data=False)",
        f"lu_unpack(*torch.linalg.lu_factor({A}), unpack_pivots=False)", f"geqrf({A})",
        f"linalg.ldl_factor({A})", f"linalg.ldl_factor_ex({A})",
        f"linalg.lu({A}, pivot=False)",
        "linalg.lu(torch.ones(3))", "linalg.lu_factor(torch.ones(3))",
        "linalg.lu_factor(torch.ones(3, 3).half())", "linalg.lu_factor(torch.ones(2, 2))",
        "linalg.lu_factor(torch.stack([torch.eye(2), torch.ones(2, 2)]))",
        "linalg.lu_factor_ex(torch.zeros(2, 0, 3))", "linalg.lu(torch.zeros(2, 3, 0))",
        "linalg.lu_factor_ex(torch.ones(2, 2), check_errors=True)")),
    *(f"str(torch.linalg.lu_solve({given}))" for given in (
        f"{A}, torch.tensor([1, 2]), {A}", f"{A}, torch.tensor([1]).int(), {A}",
        f"{A}, torch.tensor([[1, 2]]).int(), {A}", f"{A}, torch.tensor([2, 2]).int(), {A}[0]",
        f"{A}, torch.tensor([2, 2]).int(), {A}.double()",
        f"{A}[:1], torch.tensor([2, 2]).int(), {A}",
        f"{A}, torch.tensor([2, 2]).int(), torch.ones(3, 1)",
        f"{A}, torch.tensor([2, 2]).int(), torch.ones(3, 1), left=False",
        f"{A}, torch.tensor([2, 2]).int(), {A}, left=False, adjoint=True")),
    f"str(torch.lu_unpack({A}, torch.tensor([1, 2])))",
    f"str(torch.lu_unpack({A}, torch.tensor([0, 2]).int()))",
    f"str(torch.lu_unpack({A}, torch.tensor([1, 3]).int()))",
    f"str(torch.lu_unpack({A}[0], torch.tensor([1, 3]).int()))",
    *(f"str(torch.linalg.householder_product({given}))" for given in (
        f"{A}, {A}[0]", f"{A}, {A}[0, :1]", f"{A}, {A}", f"{A}[0], {A}[0]", f"{A}[:1], {A}[0]",
        f"{A}, torch.ones(3)", f"{A}, {A}[0].double()", f"{A}[None], torch.ones(2, 2)",
        f"{A}.int(), {A}[0].int()")),
    *(f"str(torch.ormqr({given}))" for given in (
        f"{A}, {A}[0], {A}", f"{A}, {A}[0], {A}, False, True", f"{A}[0], {A}[0], {A}",
        f"{A}, {A}[0], {A}[0]", f"{A}, {A}[0], torch.ones(3, 2)",
        f"{A}, {A}[0], torch.ones(2, 3), False", f"{A}, torch.ones(3), {A}", f"{A}, {A}, {A}",
        f"{A}, {A}[0], {A}[None]", f"{A}, {A}[0], {A}.double()",
        f"{A}.repeat(2, 1, 1), {A}, {A}[None]", f"{A}.repeat(2, 1, 1), {A}[:1], {A}[None]")),
    *(f"str(torch.linalg.ldl_solve({given}))" for given in (
        f"{A}, torch.tensor([1, 2]), {A}", f"{A}, torch.tensor([1, 2]), {A}[0]",
        f"{A}, torch.tensor([1, 2]), {A}[:1]", f"{A}, torch.tensor([1., 2]), {A}",
        f"{A}, torch.tensor([1]), {A}", f"{A}, torch.tensor([1, 2]), {A}.double()",
        f"{A}[:1], torch.tensor([1, 2]), {A}", f"{A}, torch.tensor([1, 2]), {A}[None]")),
    f"torch.linalg.ldl_factor({A}.requires_grad_())[0].sum().backward()",
    f"torch.linalg.ldl_solve({A}, torch.tensor([1, 2]), {A}.requires_grad_()).sum().backward()",
    "torch.geqrf(torch.ones(2))", f"torch.geqrf({A}.int())",
]


@pytest.mark.filterwarnings("ignore:torch.lu")  # PyTorch calls both deprecated
def test_the_older_names_are_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    for array in (normal(2, 3, 3), normal(3, 3, seed=1), np.zeros((2, 2))):
        found = []
        for engine in (minigrad, torch):
            a = engine.tensor(array)
            found.append([*engine.lu(a), *a.lu(get_infos=True), a.lu_solve(*engine.lu(a))])
        for mine, other in zip(*found, strict=True):
            assert str(mine.dtype) == str(other.dtype)
            assert_close(mine.numpy(), other.numpy(), atol=1e-12)
    assert type(minigrad.eye(2).lu()) is tuple


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_and_errors_are_printed_as_pytorchs(expression):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, expression) == outcome(torch, expression)
