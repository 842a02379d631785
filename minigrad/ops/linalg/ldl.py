"""The LDL factorization of symmetric matrices, and solving linear systems with it.

As in PyTorch, these have no derivative; use `linalg.solve` if you need one.
"""

from ...op.declaration import Op
from ...op.publish import function
from ...op.results import named_result
from ...shapes import broadcast
from ..checks import at_each_run, require_one_dtype, size_at
from .decompositions import LinAlgError, require_square
from .product_checks import by, dtype_names
from .triangular import TWO_DTYPES


class LdlFactor(Op):
    """L and D in one matrix, the pivots, and the 1-based index of D's first zero, or 0.

    >>> from minigrad import tensor
    >>> LdlFactor(tensor([[4.0, 0.0], [2.0, 5.0]])).LD
    tensor([[4.0000, 0.0000],
            [0.5000, 4.0000]])
    """

    name, public = "linalg_ldl_factor_ex", False
    outputs = ("LD", "pivots", "info")
    nondifferentiable = not_implemented_derivative = True

    def shape(A): return [A, A[:-1], A[:-2]]

    def forward(xp, self):
        require_square("torch.linalg.ldl_factor_ex", self)
        return xp.ldl_factor(self)

    def samples(make):
        yield make(3, 3).detach(),
        yield make(2, 3, 3).detach(),


def checked_factors(name, A, check_errors):
    """Return the result of `LdlFactor`; raise `LinAlgError` for a zero in D if `check_errors`."""
    found = LdlFactor(A)
    if check_errors:
        check_info(name, found.info)
    return found


@at_each_run
def check_info(name, info):
    """Raise if a factorization found a zero in D."""
    if bool((info != 0).any()):
        raise LinAlgError(f"torch.linalg.{name}: D has a zero on its diagonal: the matrix is "
                          "singular")


@function(method_too=False, out="exact")
def linalg_ldl_factor_ex(A, *, hermitian=False, check_errors=False):
    """Return the result of `ldl_factor`, and for each matrix the index of D's first zero, or 0.

    Such a zero is an error only with `check_errors`.

    Source: `torch.linalg.ldl_factor_ex`

    >>> from minigrad import linalg, zeros
    >>> linalg.ldl_factor_ex(zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    return checked_factors("ldl_factor_ex", A, check_errors)


Ldl = named_result("linalg_ldl_factor", ("LD", "pivots"))


@function(method_too=False, out="exact")
def linalg_ldl_factor(A, *, hermitian=False):
    """Return L and D with L D L.T = A in one matrix, and pivots in the form of LAPACK's sytrf.

    Reads only the lower triangle of each matrix.  D has blocks of one or two rows; a block of two
    has its pivot twice, as a negative number.  `hermitian` makes no difference for real numbers.
    Raises `LinAlgError` if D has a zero on its diagonal.

    Source: `torch.linalg.ldl_factor`

    >>> from minigrad import linalg, tensor
    >>> linalg.ldl_factor(tensor([[4.0, 2.0], [2.0, 5.0]])).LD
    tensor([[4.0000, 0.0000],
            [0.5000, 4.0000]])
    """
    return Ldl(*checked_factors("ldl_factor", A, True)[:2])


class LinalgLdlSolve(Op):
    """The solution X of A X = B, from the result of `ldl_factor` for A; batch dimensions broadcast.

    `hermitian` makes no difference for real numbers.

    Source: `torch.linalg.ldl_solve`

    >>> from minigrad import linalg, tensor
    >>> LD, pivots = linalg.ldl_factor(tensor([[4.0, 0.0], [0.0, 2.0]]))
    >>> linalg.ldl_solve(LD, pivots, tensor([[8.0], [2.0]]))
    tensor([[2.],
            [1.]])
    """

    out, method = "exact overlap", False
    tensors = ("LD", "pivots", "B")
    nondifferentiable = not_implemented_derivative = True
    no_batching = "rare: there is no derivative"

    def shape(LD, pivots, B, hermitian=False):
        return (*broadcast(LD[:-2], B[:-2]), *B[-2:])

    def forward(xp, LD, pivots, B, *, hermitian=False):
        name = "torch.linalg.ldl_solve"
        require_square(name, LD)
        size_at(B.shape, -2)
        if B.shape[-2] != LD.shape[-1]:
            raise RuntimeError(f"Incompatible matrix sizes for {name}: each A matrix is "
                               f"{by(LD.shape[-2:]).replace('x', ' by ')} but each b matrix is "
                               f"{by(B.shape[-2:]).replace('x', ' by ')}")
        require_one_dtype(TWO_DTYPES, B, LD)
        if pivots.dtype.kind not in "iu":
            raise RuntimeError(f"{name}: Expected pivots to be integers. Got "
                               f"{dtype_names(pivots)[0]}")
        if pivots.shape != LD.shape[:-1]:
            raise RuntimeError(f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, "
                               f"but got pivots with shape {list(pivots.shape)} instead")
        batch = broadcast(LD.shape[:-2], B.shape[:-2])
        LD, pivots, B = (xp.broadcast_to(x, (*batch, *x.shape[-kept:])) for x, kept in (
            (LD, 2), (pivots, 1), (B, 2)))
        return xp.ldl_solve(LD, pivots, B)

    def samples(make):
        LD, pivots = linalg_ldl_factor(make(3, 3).detach())
        yield LD, pivots, make(3, 2).detach()
        yield LD, pivots, make(2, 3, 1).detach()
