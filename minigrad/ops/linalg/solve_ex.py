"""Decompositions and solvers that report failures in `info`, and tensor equations.

Source: https://docs.pytorch.org/docs/stable/linalg.html
"""

import math

from ...dtypes import type_name
from ...op.declaration import F
from ...op.publish import function
from ...op.results import named_result
from .decompositions import LinAlgError, require_square

CholeskyEx = named_result("linalg_cholesky_ex", ("L", "info"))
InvEx = named_result("linalg_inv_ex", ("inverse", "info"))
SolveEx = named_result("linalg_solve_ex", ("result", "info"))


def no_failure(A):
    """Return zeros: the `info` of a batch without a failure."""
    return F.zeros(tuple(A.shape[:-2]), dtype=F.zeros_like(A).int().dtype, device=A.device)


def each_alone(function, A, *others):
    """Apply a function that raises for a bad matrix to each one; return the results and `info`.

    The result of a bad matrix is nan, and its `info` is 1.
    """
    try:
        return function(A, *others), no_failure(A)
    except LinAlgError:
        if A.ndim == 2:
            like = others[0] if others else A
            return F.full_like(like, math.nan), no_failure(A) + 1
        rows = [each_alone(function, *parts) for parts in zip(
            F.unbind(A), *(F.unbind(o) for o in others), strict=True)]
        return F.stack([r for r, _ in rows]), F.stack([i for _, i in rows])


def checked(result_type, value, info, check_errors, message):
    """Return the result and `info`, or raise if a matrix failed and `check_errors` is set."""
    if check_errors and F.any(F.ne(info, 0)):
        raise LinAlgError(message)
    return result_type(value, info)


@function(method_too=False, out="exact")
def linalg_cholesky_ex(A, *, upper=False, check_errors=False):
    """Return the result of `cholesky`, and for each matrix 1 if it isn't positive-definite, else 0.

    The factor of a matrix that fails is nan.  Raises `LinAlgError` only with `check_errors`.

    >>> from minigrad import eye, linalg
    >>> linalg.cholesky_ex(eye(2)).info
    tensor(0, dtype=torch.int32)
    """
    require_square("linalg.cholesky", A)
    L, info = each_alone(lambda A: F.linalg_cholesky(A, upper=upper), A)
    return checked(CholeskyEx, L, info, check_errors, "linalg.cholesky_ex: the input is not "
                   "positive-definite")


@function(method_too=False, out="exact")
def linalg_inv_ex(A, *, check_errors=False):
    """Return the result of `inv`, and for each matrix 1 if it is singular, else 0.

    The inverse of a matrix that fails is nan.  Raises `LinAlgError` only with `check_errors`.

    >>> from minigrad import linalg, zeros
    >>> linalg.inv_ex(zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    require_square("linalg.inv", A)
    inverse, info = each_alone(F.linalg_inv, A)
    return checked(InvEx, inverse, info, check_errors, "linalg.inv_ex: the input matrix is "
                   "singular")


@function(method_too=False, out="exact")
def linalg_solve_ex(A, B, *, left=True, check_errors=False):
    """Return the result of `solve`, and for each matrix 1 if it is singular, else 0.

    The solution of a system that fails is nan.  Raises `LinAlgError` only with `check_errors`.

    >>> from minigrad import eye, linalg, ones
    >>> linalg.solve_ex(eye(2), ones(2)).result
    tensor([1., 1.])
    """
    require_square("linalg.solve", A)
    result, info = each_alone(lambda A, B: F.linalg_solve(A, B, left=left), A, B)
    return checked(SolveEx, result, info, check_errors, "linalg.solve_ex: the input matrix is "
                   "singular")


@function(method_too=False, out="cast")
def linalg_tensorinv(A, ind: int = 2):
    """Return the inverse of x -> `tensordot(A, x, x.ndim)`; A's first `ind` dimensions are rows.

    Raises `RuntimeError` unless there are as many rows as columns.

    Source: `torch.linalg.tensorinv`.

    >>> from minigrad import eye, linalg
    >>> linalg.tensorinv(eye(4).reshape(4, 2, 2), 1).shape
    torch.Size([2, 2, 4])
    """
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    rows, columns = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if math.prod(rows) != math.prod(columns):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                           f"prod(self.shape[:ind]), but got {math.prod(columns)} != "
                           f"{math.prod(rows)}")
    flat = F.reshape(A, (math.prod(rows), math.prod(columns)))
    return F.reshape(F.linalg_inv(flat), (*columns, *rows))


@function(method_too=False, out="cast")
def linalg_tensorsolve(A, B, dims=None):
    """Return the X with `tensordot(A, X, X.ndim) = B`, after moving `dims` of A to the end.

    Raises `RuntimeError` unless there are as many rows as columns.

    Source: `torch.linalg.tensorsolve`.

    >>> from minigrad import eye, linalg, ones
    >>> linalg.tensorsolve(eye(4).reshape(4, 2, 2), ones(4)).shape
    torch.Size([2, 2])
    """
    if dims is not None:
        A = F.movedim(A, tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    columns = tuple(A.shape[B.ndim:])
    if math.prod(A.shape[:B.ndim]) != math.prod(columns):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) "
                           f"== prod(self.shape[:other.ndim]), but got {math.prod(columns)} != "
                           f"{math.prod(A.shape[:B.ndim])}")
    flat = F.reshape(A, (-1, math.prod(columns)))
    return F.reshape(F.linalg_solve(flat, F.reshape(B, (-1,))), columns)


@function(method_too=False)
def linalg_vander(x, *, N=None):
    """Return the powers 0 to N - 1 of each element; N defaults to the number of elements.

    Source: `torch.linalg.vander`.

    >>> from minigrad import linalg, tensor
    >>> linalg.vander(tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [1, 2, 4],
            [1, 3, 9]])
    """
    dtype = type_name(x.dtype)
    if dtype in ("Half", "Bool"):
        raise RuntimeError("linalg.vander supports floating point, complex, and integer tensors, "
                           f"but got {dtype}")
    x = x if x.ndim else F.unsqueeze(x, 0)
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    column = F.unsqueeze(x, -1)
    powers = F.cumprod(F.expand(column, (*x.shape, count - 1)), -1)
    return F.cat([F.ones_like(powers[..., :1]), powers], -1)


@function(method_too=False)
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """Return a view of the diagonals of matrices. Source: `torch.linalg.diagonal`.

    >>> from minigrad import eye, linalg
    >>> linalg.diagonal(eye(2))
    tensor([1., 1.])
    """
    return F.diagonal(A, offset, dim1, dim2)


@function()
def matrix_exp(input):
    """Return the matrix exponential: scale down, sum the power series, and square repeatedly.

    Source: `torch.linalg.matrix_exp`; Higham, "The scaling and squaring method for the matrix
    exponential revisited".

    >>> from minigrad import linalg, zeros
    >>> linalg.matrix_exp(zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    require_square("linalg.matrix_exp", input)
    n = input.shape[-1]
    identity = F.expand(F.eye(n, dtype=input.dtype, device=input.device), tuple(input.shape))
    if not input.numel():
        return F.clone(input)
    largest = F.amax(F.sum(F.abs(F.detach(input)), -2)).item()
    halvings = max(math.ceil(math.log2(largest)) + 1, 0) if 0 < largest < math.inf else 0
    A = input / 2**halvings  # the norm is at most 1/2, so 15 terms are exact
    result = identity
    for k in range(15, 0, -1):
        result = identity + F.matmul(A, result) / k
    for _ in range(halvings):
        result = F.matmul(result, result)
    return result
