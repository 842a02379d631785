"""Linear algebra beyond the samples: ranks, equations, symmetric and singular matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad import linalg
from minigrad.autograd import grad
from tests._oracle import assert_close, central_difference_vjp
from tests.support.arrays import normal


def check_gradient(function: Any, *arrays: Any, eps: float = 1e-6) -> None:
    """Compare the gradients of `function`, of tensors, with finite differences."""
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    output = function(*tensors)
    weights = normal(*output.shape, seed=9)
    found = grad(output, tensors, torch.tensor(weights))

    def on_arrays(*values: Any) -> Any:
        return function(*[torch.tensor(v) for v in values]).numpy()

    for a, b in zip(found, central_difference_vjp(on_arrays, arrays, weights, eps)):
        assert_close(a.numpy(), b, atol=1e-6, rtol=1e-5)


RANKS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)),
         ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4)), ((3,), (5, 3, 4)),
         ((5, 1, 2, 3), (4, 3, 6)), ((2, 2, 0), (0, 3))]


@pytest.mark.parametrize("shapes", RANKS)
def test_matmul_of_all_ranks(shapes: Any) -> None:
    a, b = normal(*shapes[0]), normal(*shapes[1], seed=1)
    assert_close((torch.tensor(a) @ torch.tensor(b)).numpy(), a @ b)
    if a.size:
        check_gradient(torch.matmul, a, b)


EQUATIONS = ["ij,jk->ik", "ij,jk", "ii", "ii->i", "ij->ji", "ij->", "i,j", "bij,bjk->bik",
             "...ij,...jk->...ik", "b...,b...->...", "bi,bj,bk->ijk", "iij,jk->ik", "iji,j",
             "ab,cd,ef->ace", "Ab,bC", "ij , j -> ij"]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_equations(equation: str) -> None:
    sizes = dict(zip("abcdefijkAC", (2, 3, 4, 2, 3, 2, 3, 4, 2, 2, 3)))
    terms = equation.replace(" ", "").split("->")[0].split(",")
    arrays = []
    for n, term in enumerate(terms):
        shape = [2 if c == "." else sizes[c] for c in term.replace("...", ".")]
        arrays.append(normal(*shape, seed=n))
    result = torch.einsum(equation, *[torch.tensor(a) for a in arrays])
    assert_close(result.numpy(), np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)
    check_gradient(lambda *ts: torch.einsum(equation, *ts), *arrays)


def test_einsum_broadcasts_size_one() -> None:
    check_gradient(lambda a, b: torch.einsum("i,ij->j", a, b), normal(1), normal(3, 4))


@pytest.mark.parametrize(
    ("equation", "text"),
    [
        ("ij,jk", "einsum(): fewer operands were provided than specified in the equation"),
        ("i", "einsum(): the number of subscripts in the equation (1) does not match the number "
              "of dimensions (2) for operand 0 and no ellipsis was given"),
        ("ij->ik", "einsum(): output subscript k does not appear in the equation for any input "
                   "operand"),
        ("i1", "einsum(): invalid subscript given at index 1 in the equation string, subscripts "
               "must be in [a-zA-Z]"),
    ],
)
def test_einsum_errors(equation: str, text: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.einsum(equation, torch.ones(2, 3))
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (((2, 2), (3, 2)), "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x2)"),
        (((2, 2), (3,)), "size mismatch, got input (2), mat (2x2), vec (3)"),
        (((2,), (3,)), "inconsistent tensor size, expected tensor [2] and src [3] to have the same "
                       "number of elements, but got 2 and 3 elements respectively"),
        (((2, 3, 4), (2, 3, 3)), "Expected size for first two dimensions of batch2 tensor to be: "
                                 "[2, 4] but got: [2, 3]."),
        (((), (2, 2)), "both arguments to matmul need to be at least 1D, but they are 0D and 2D"),
    ],
)
def test_matmul_errors(shapes: Any, text: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.ones(*shapes[0]) @ torch.ones(*shapes[1]) if shapes[0] else torch.matmul(
            torch.tensor(1.0), torch.ones(*shapes[1]))
    assert str(caught.value).splitlines()[0] == text


def test_matmul_wants_one_dtype() -> None:
    with pytest.raises(RuntimeError, match="same dtype, but got: float != double"):
        torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64)
    with pytest.raises(TypeError, match="unsupported operand"):
        torch.ones(2, 2) @ 2


def symmetric(a: Any) -> Any:
    return a + a.transpose(-2, -1)


def positive(a: Any) -> Any:
    return a @ a.transpose(-2, -1) + torch.eye(a.shape[-1], dtype=torch.float64)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: linalg.cholesky(positive(a)),
        lambda a: linalg.cholesky(positive(a), upper=True),
        lambda a: linalg.eigvalsh(symmetric(a)),
        lambda a: linalg.eigh(symmetric(a), "U").eigenvectors.square(),
        lambda a: torch.logdet(positive(a)),
        lambda a: linalg.solve(positive(a), a),
        lambda a: linalg.solve(positive(a), a, left=False),
        lambda a: linalg.solve_triangular(positive(a), a, upper=True),
        lambda a: torch.cholesky_solve(a, linalg.cholesky(positive(a))),
        lambda a: linalg.matrix_power(a, -2),
        lambda a: linalg.svd(a).U.square(),
        lambda a: linalg.matrix_norm(a, "nuc"),
        lambda a: linalg.cond(a),
        lambda a: linalg.qr(a[..., :2]).Q,
        lambda a: linalg.qr(a[..., :2, :]).R,
        lambda a: linalg.pinv(a[..., :2]),
    ],
)
def test_gradients(function: Any) -> None:
    check_gradient(function, normal(2, 3, 3))


def test_second_derivative_through_a_factorisation() -> None:
    def first(a: Any) -> Any:
        a = a if a.requires_grad else a.requires_grad_()
        return grad(linalg.cholesky(positive(a)).sum(), a, create_graph=True)[0]

    array = normal(3, 3)
    a = torch.tensor(array, requires_grad=True)
    found = grad(first(a).sum(), a)[0].numpy()
    expected = central_difference_vjp(
        lambda x: first(torch.tensor(x)).detach().numpy(), [array], np.ones((3, 3)))[0]
    assert_close(found, expected, atol=1e-6, rtol=1e-5)


def test_determinant_of_a_singular_matrix_has_the_cofactors_as_gradient() -> None:
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    assert_close(grad(torch.det(a), a)[0].numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_equal_singular_values_do_not_disturb_the_values_gradient() -> None:
    a = torch.eye(3, dtype=torch.float64).requires_grad_()
    assert_close(grad(linalg.svdvals(a).sum(), a)[0].numpy(), np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda: torch.inverse(torch.zeros(2, 2)),
         "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because "
         "the input matrix is singular."),
        (lambda: linalg.inv(torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]]])),
         "linalg.inv: (Batch element 1): The diagonal element 2 is zero, the inversion could not "
         "be completed because the input matrix is singular."),
        (lambda: linalg.solve(torch.zeros(2, 2), torch.ones(2)),
         "torch.linalg.solve: The solver failed because the input matrix is singular."),
        (lambda: linalg.cholesky(torch.tensor([[1.0, 2.0], [2.0, 1.0]])),
         "linalg.cholesky: The factorization could not be completed because the input is not "
         "positive-definite (the leading minor of order 2 is not positive-definite)."),
    ],
)
def test_singular_matrices(function: Any, text: str) -> None:
    with pytest.raises(torch._C._LinAlgError) as caught:
        function()
    assert str(caught.value).splitlines()[0] == text
    assert type(caught.value) is linalg.LinAlgError


def test_nodes_are_named_as_the_documents_print_them() -> None:
    a, v = torch.ones(2, 2, requires_grad=True), torch.ones(2, requires_grad=True)
    for result, name in ((a @ a, "MmBackward"), (a @ v, "MvBackward"), (v @ v, "DotBackward"),
                         (torch.addmm(v, a, a), "AddmmBackward"),
                         (torch.ones(2, 2, 2) @ a, "UnsafeViewBackward")):
        assert type(result.grad_fn).__name__ == name


def test_the_first_power_of_a_matrix_is_a_matrix_of_its_own() -> None:
    a = torch.eye(2, requires_grad=True)
    power = linalg.matrix_power(a, 1)
    with torch.no_grad():
        power.mul_(2)
    assert a.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("triangle", ["L", "U"])
def test_gradients_of_eigenvectors_are_symmetric(triangle: str) -> None:
    a = torch.tensor(normal(3, 3), requires_grad=True)
    vectors = linalg.eigh(a, triangle)[1]
    weights = torch.tensor(normal(3, 3, seed=1))
    first, = grad((vectors.abs() * weights).sum(), a, create_graph=True)
    assert_close(first.detach().numpy(), first.detach().mT.numpy())
    second, = grad((first * weights).sum(), a)
    assert_close(second.numpy(), second.mT.numpy())


def test_a_chain_of_one_matrix_is_a_copy() -> None:
    a = torch.eye(2)
    torch.chain_matmul(a).mul_(2)
    assert a.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("function", [
    lambda a: linalg.det(a), lambda a: linalg.slogdet(a)[1],
    lambda a: linalg.solve(a, torch.ones(2, 1)), lambda a: linalg.solve(a, torch.ones(2))])
def test_a_matrix_that_is_singular_by_the_time_of_backward(function: Any) -> None:
    """PyTorch kept the factors of the matrix as it was; here what it is now divides by zero."""
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    matrix = a * 1
    result = function(matrix)
    matrix.data.zero_()
    result.sum().backward()
    assert not a.grad.isfinite().any()
