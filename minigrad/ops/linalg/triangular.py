"""Solving linear systems with a triangular matrix or a Cholesky factor."""

from ...frames import warn_user_once
from ...op.declaration import F, Op
from ...op.publish import function
from ...op.results import named_result
from ...shapes import broadcast
from ..checks import require_one_dtype
from .decompositions import columns, require_fitting, require_for_lapack, require_square
from .matmul import mT


class LinalgSolveTriangular(Op):
    """The X with A X = B, or with X A = B unless `left`; reads only one triangle of A.

    A zero on the diagonal does not raise; dividing by it gives infinities and nan.

    >>> from minigrad import linalg, tensor
    >>> A, B = tensor([[2.0, 0.0], [1.0, 0.0]]), tensor([[4.0], [1.0]])
    >>> linalg.solve_triangular(A, B, upper=False)
    tensor([[2.],
            [-inf]])
    """

    out = "exact overlap"
    method = False

    def shape(A, B, upper, left=True, unitriangular=False):
        return (*broadcast(A[:-2], B[:-2]), *B[-2:])

    def forward(xp, self, B, *, upper, left=True, unitriangular=False):
        name = "linalg.solve_triangular"
        require_square(name, self)
        if B.ndim < 2:
            raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
        require_fitting(name, self.shape, B.shape, left)
        require_for_lapack(self, "triangular_solve_cpu")
        A, B = self, B.astype(self.dtype, copy=False)
        if left:
            return columns(xp, xp.solve_triangular(A, B, upper, unitriangular))
        A, B = (xp.swapaxes(x, -1, -2) for x in (A, B))
        return columns(xp, xp.swapaxes(
            xp.solve_triangular(A, B, not upper, unitriangular), -1, -2))

    def grad_self(g, self, result, upper, left, unitriangular):
        g_B = F.linalg_solve_triangular(
            mT(self), g, upper=not upper, left=left, unitriangular=unitriangular)
        g_A = g_B @ mT(result) if left else mT(result) @ g_B
        return F.triu(-g_A, int(unitriangular)) if upper else F.tril(-g_A, -int(unitriangular))

    def grad_B(g, self, result, upper, left, unitriangular):  # PyTorch saves the result too
        return F.linalg_solve_triangular(
            mT(self), g, upper=not upper, left=left, unitriangular=unitriangular)

    def samples(make):
        yield make(3, 3, low=1), make(3, 2), {"upper": True}
        yield make(2, 3, 3, low=1), make(2, 3), {"upper": False, "left": False}
        yield make(3, 3), make(2, 3, 1), {"upper": False, "unitriangular": True}


TWO_DTYPES = ("Expected b and A to have the same dtype, but found b of type {} and A of type {} "
              "instead.")
TriangularSolve = named_result("triangular_solve", ("solution", "cloned_coefficient"))


@function(out="exact")
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False):
    """Return the X with A X = input and A itself; reads only one triangle of A.

    >>> from minigrad import tensor
    >>> tensor([[4.0]]).triangular_solve(tensor([[2.0]])).solution
    tensor([[2.]])
    """
    warn_user_once(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be "
        "removed in a future PyTorch release.\ntorch.linalg.solve_triangular has its arguments "
        "reversed and does not return a copy of one of the inputs.\n"
        "X = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B).")
    require_one_dtype(TWO_DTYPES, input, A)
    X = F.linalg_solve_triangular(mT(A) if transpose else A, input, upper=upper != transpose,
                                  unitriangular=unitriangular)
    return TriangularSolve(X, F.clone(A))


@function(out="cast overlap")
def cholesky_solve(input, L, upper=False):
    """Return the X with L L.T X = input.

    >>> from minigrad import tensor
    >>> tensor([[8.0]]).cholesky_solve(tensor([[2.0]]))
    tensor([[2.]])
    """
    require_one_dtype(TWO_DTYPES, input, L)
    lower = mT(L) if upper else L
    half = F.linalg_solve_triangular(lower, input, upper=False)
    return F.linalg_solve_triangular(mT(lower), half, upper=True)


@function(out="cast overlap")
def cholesky_inverse(input, upper=False):
    """Return the inverse of L L.T.

    >>> from minigrad import tensor
    >>> tensor([[2.0]]).cholesky_inverse()
    tensor([[0.2500]])
    """
    lower = mT(F.triu(input)) if upper else F.tril(input)
    inverse = F.linalg_inv(lower)
    return mT(inverse) @ inverse
