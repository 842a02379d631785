"""The LU factorization, P L U = A, and solving linear systems with it.

NOTE [The gradient of LU]
    A = P L U gives P.T dA = dL U + L dU, where dL is strictly lower and dU is upper triangular.  So
    inv(L) P.T dA inv(U) = inv(L) dL + dU inv(U) is the sum of a lower and an upper triangle, which
    separates the two.  For square matrices, the gradient is the transpose of that map:

        P inv(L).T (tril(L.T g_L, -1) + triu(g_U U.T)) inv(U).T

    If A has more columns, these give U2 = inv(L) P.T A2, and more rows give L2 = A2 inv(U).  Their
    gradients pass to A2, and with a minus sign to L and U.
    P is constant: it changes only where two elements are equal.
"""

from ...dtypes import type_name
from ...frames import warn_user_once
from ...op.declaration import F, Op
from ...op.publish import function
from ...op.results import named_result
from ...shapes import broadcast
from ..checks import require_one_dtype
from .decompositions import require_fitting, require_for_lapack, require_square
from .matmul import mT


class LinalgLuFactorEx(Op):
    """L (without its unit diagonal) and U in one matrix, the pivots, and U's first zero.

    Step j swapped row j with row `pivots[j]`, counted from 1.  `info` is the 1-based index of the
    first zero on U's diagonal, or 0.  If `asked_by` names a function, such a zero raises an error.

    >>> from minigrad import linalg, tensor
    >>> linalg.lu_factor_ex(tensor([[0.0, 1.0], [2.0, 3.0]])).pivots
    tensor([2, 2], dtype=torch.int32)
    """

    name, public = "linalg_lu_factor_ex", False
    outputs, constants = ("LU", "pivots", "info"), 2

    def shape(A, asked_by=""):
        return [A, (*A[:-2], min(A[-2:])), A[:-2]]

    def forward(xp, self, asked_by=""):
        require_for_lapack(self, "lu_cpu")
        LU, pivots = xp.lu_factor(self)
        zero = xp.diagonal(LU, 0, -2, -1) == 0
        first = xp.argmax(zero, axis=-1) + 1 if min(self.shape[-2:]) else 0
        info = xp.where(zero.any(axis=-1), first, 0).astype("int32")
        if asked_by and xp.may_ask() and (info != 0).any():
            at = xp.argmax(info.reshape(-1) != 0).item()
            pivot, where = info.reshape(-1)[at].item(), f"(Batch element {at}): " * (info.ndim > 0)
            raise RuntimeError(
                f"{asked_by}: {where}U[{pivot},{pivot}] is zero and using it on lu_solve would "
                "result in a division by zero. If you still want to perform the factorization, "
                "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")
        return LU, pivots, info

    def grad_self(g_LU, LU, pivots, self_sizes):
        m, n = self_sizes[-2:]
        k = min(m, n)
        square, g = (F.narrow(F.narrow(x, -1, 0, k), -2, 0, k) for x in (LU, g_LU))
        Lt, Ut = mT(F.tril(square, -1)), mT(F.triu(square))  # L without ones: add their part
        g_L = F.tril(g, -1)
        inside = F.tril(g_L + Lt @ g_L, -1) + F.triu(F.triu(g) @ Ut)
        if n > m:
            beyond, g_beyond = (F.narrow(x, -1, k, n - k) for x in (LU, g_LU))
            inside = inside - F.tril(g_beyond @ mT(beyond), -1)
        if m > n:
            beyond, g_beyond = (F.narrow(x, -2, k, m - k) for x in (LU, g_LU))
            inside = inside - F.triu(mT(beyond) @ g_beyond)
        result = solve_L_transposed(square, solve_U_transposed(square, inside))
        if n > m:
            result = F.cat([result, solve_L_transposed(square, g_beyond)], -1)
        if m > n:
            result = F.cat([result, solve_U_transposed(square, g_beyond)], -2)
        return in_order(result, RowOrder(pivots, m, True))

    def samples(make):
        yield make(3, 3)
        yield make(2, 2, 3)
        yield make(4, 3)


def solve_L_transposed(LU, X):
    """Return inv(L).T X."""
    return F.linalg_solve_triangular(mT(LU), X, upper=True, unitriangular=True)


def solve_U_transposed(LU, X):
    """Return X inv(U).T."""
    return F.linalg_solve_triangular(mT(LU), X, upper=False, left=False)


class RowOrder(Op):
    """The row order after the swaps of LU, or with `inverse` the position of each row.

    >>> from minigrad import tensor
    >>> RowOrder(tensor([2, 3]), 3)
    tensor([1, 2, 0])
    """

    public, nondifferentiable, tensors = False, True, ("pivots",)

    def shape(pivots, size, inverse=False): return (*pivots[:-1], size)

    def forward(xp, pivots, size, inverse=False):
        if xp.may_ask() and ((pivots < 1) | (pivots > size)).any():
            raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) "
                               "inclusive.Did you properly pass the result of lu_factor?")
        order = xp.row_order(pivots, size)
        return xp.argsort(order, axis=-1) if inverse else order

    def samples(make):
        yield make.ints(3, low=3, high=4), 3
        yield make.ints(2, 2, low=2, high=4), 4, True


def in_order(matrices, order):
    """Return matrices with their rows reordered."""
    return F.gather(matrices, -2, F.expand(F.unsqueeze(order, -1), tuple(matrices.shape)))


def factored(name, A, pivot, asked_by=""):
    """Check the arguments and return the result of `LinalgLuFactorEx`."""
    if A.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: "
                           f"{list(A.shape)} instead")
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return LinalgLuFactorEx(A, asked_by)


@function(method_too=False, out="exact")
def linalg_lu_factor_ex(A, *, pivot=True, check_errors=False):
    """Return the result of `lu_factor`, and for each matrix the index of U's first zero, or 0.

    A zero on the diagonal of U raises `RuntimeError` only with `check_errors`.

    >>> from minigrad import linalg, ones
    >>> linalg.lu_factor_ex(ones(2, 2)).info
    tensor(2, dtype=torch.int32)
    """
    return factored("torch.lu_factor", A, pivot, "torch.linalg.lu_factor_ex" * bool(check_errors))


LuFactor = named_result("linalg_lu_factor", ("LU", "pivots"))


@function(method_too=False, out="exact")
def linalg_lu_factor(A, *, pivot=True):
    """Return L (without its unit diagonal) and U in one matrix, (*, m, n), and the pivots.

    Step j swapped row j with row `pivots[j]`, counted from 1, which had the largest element.
    Raises `RuntimeError` if U has a zero on its diagonal, because `lu_solve` would divide by it.

    Source: `torch.linalg.lu_factor`

    >>> from minigrad import linalg, tensor
    >>> linalg.lu_factor(tensor([[1.0, 3.0], [2.0, 4.0]])).LU
    tensor([[2.0000, 4.0000],
            [0.5000, 1.0000]])
    """
    LU, pivots, _ = factored("torch.lu_factor", A, pivot, "torch.linalg.lu_factor")
    return LuFactor(LU, pivots)


LuUnpack = named_result("lu_unpack", ("P", "L", "U"))
LinalgLu = named_result("linalg_lu", ("P", "L", "U"))


@function(method_too=False, out="exact")
def linalg_lu(A, *, pivot=True):
    """Return a permutation P, L with a unit diagonal, and an upper triangular U, with P L U = A.

    For A of shape (*, m, n) and k = min(m, n), the shapes are (*, m, m), (*, m, k) and (*, k, n).

    Source: `torch.linalg.lu`

    >>> from minigrad import linalg, tensor
    >>> linalg.lu(tensor([[1.0, 3.0], [2.0, 4.0]])).L
    tensor([[1.0000, 0.0000],
            [0.5000, 1.0000]])
    """
    LU, pivots, _ = factored("linalg.lu", A, pivot)
    return LinalgLu(*F.lu_unpack(LU, pivots))


LuWithInfo = named_result("_lu_with_info", ("LU", "pivots", "info"))


@function(event=False)
def lu(A, pivot=True, get_infos=False):
    """Return the result of `linalg.lu_factor` even if U has zeros; with `get_infos` also `info`.

    Source: `torch.lu`

    >>> from minigrad import lu, tensor
    >>> lu(tensor([[1.0, 3.0], [2.0, 4.0]]))[1]
    tensor([2, 2], dtype=torch.int32)
    """
    found = factored("torch.lu_factor", A, pivot)
    return LuWithInfo(*found) if get_infos else tuple(found[:2])


@function(method_too=False, out="exact")
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """Return P, L and U with P L U = A, from the result of `linalg.lu_factor` for A.

    Without `unpack_data`, L and U are empty; without `unpack_pivots`, P is.

    Source: `torch.lu_unpack`

    >>> from minigrad import linalg, lu_unpack, tensor
    >>> lu_unpack(*linalg.lu_factor(tensor([[1.0, 3.0], [2.0, 4.0]]))).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    if LU_data.ndim < 2:
        raise RuntimeError("torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
                           f"{list(LU_data.shape)} instead")
    if unpack_pivots and type_name(LU_pivots.dtype) != "Int":
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of "
                           "torch.int32 dtype.\nNote: this function is intended to be used with "
                           "the output produced by torch.linalg.lu_factor")
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    P = L = U = F.new_zeros(LU_data, (0,))
    if unpack_pivots:
        order = F.unsqueeze(RowOrder(LU_pivots, m), -2)
        rows = F.unsqueeze(F.arange(m, device=LU_data.device), -1)
        P = F.to(F.eq(rows, order), LU_data.dtype)
    if unpack_data:
        ones = F.eye(m, k, dtype=LU_data.dtype, device=LU_data.device)
        L = F.tril(F.narrow(LU_data, -1, 0, k), -1) + ones
        U = F.triu(F.narrow(LU_data, -2, 0, k))
    return LuUnpack(P, L, U)


# ------------------------------------------------------------------------------- equations


def check_system(LU, pivots, B, left):
    """Raise unless factors, pivots and right-hand sides fit together."""
    name = "linalg.lu_solve"
    require_square("torch." + name, LU)
    if B.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    require_one_dtype(name + ": Expected LU and B to have the same dtype, but found LU of type {} "
                             "and B of type {} instead", LU, B)
    if type_name(pivots.dtype) != "Int":
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    require_fitting(name, LU.shape, B.shape, left)
    if not pivots.ndim or pivots.shape[-1] != LU.shape[-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of "
                           "the matrix")
    if tuple(pivots.shape) != tuple(LU.shape[:-1]):
        raise RuntimeError(f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but "
                           f"got pivots with shape {list(pivots.shape)} instead")


@function(method_too=False, out="exact overlap")
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """Return the X with A X = B, or X A = B unless `left`, from the result of `lu_factor` for A.

    With `adjoint`, A is transposed.  The batch dimensions of LU and B broadcast.

    Source: `torch.linalg.lu_solve`

    >>> from minigrad import linalg, tensor
    >>> LU, pivots = linalg.lu_factor(tensor([[0.0, 2.0], [4.0, 0.0]]))
    >>> linalg.lu_solve(LU, pivots, tensor([[2.0], [8.0]]))
    tensor([[2.],
            [1.]])
    """
    check_system(LU, pivots, B, left)
    if not left:
        return mT(F.linalg_lu_solve(LU, pivots, mT(B), adjoint=not adjoint))
    n = LU.shape[-1]
    batch = broadcast(tuple(LU.shape[:-2]), tuple(B.shape[:-2]))
    order = F.expand(RowOrder(pivots, n, bool(adjoint)), (*batch, n))
    B = F.expand(B, (*batch, *B.shape[-2:]))
    if adjoint:  # U.T L.T P.T X = B
        Y = F.linalg_solve_triangular(mT(LU), B, upper=False)
        return in_order(solve_L_transposed(LU, Y), order)
    Y = F.linalg_solve_triangular(LU, in_order(B, order), upper=False, unitriangular=True)
    return F.linalg_solve_triangular(LU, Y, upper=True)


@function(out="exact")
def lu_solve(input, LU_data, LU_pivots):
    """Return the X with A X = input, from the result of `linalg.lu_factor` for A.

    Source: `torch.lu_solve`

    >>> from minigrad import linalg, tensor
    >>> LU, pivots = linalg.lu_factor(tensor([[4.0]]))
    >>> tensor([[8.0]]).lu_solve(LU, pivots)
    tensor([[2.]])
    """
    warn_user_once(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a "
        "future PyTorch release.\nNote that torch.linalg.lu_solve has its arguments reversed.\n"
        "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\n"
        "X = torch.linalg.lu_solve(LU, pivots, B)")
    return F.linalg_lu_solve(LU_data, LU_pivots, input)
