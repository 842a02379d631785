"""Solving and factoring: inverse, solve, determinant, Cholesky, QR.

All functions take batches of matrices in the last two dimensions.  The gradients follow Giles,
"Collected matrix derivative results for forward and reverse mode algorithmic differentiation", and
PyTorch.
"""

from ...frames import warn_user_once
from ...op.declaration import F, Op
from ...op.publish import function
from ...op.results import named_result
from ...shapes import broadcast
from ..checks import require_one_dtype
from ..reduction.cumulative import others
from ..reduction.reduction import require_float
from ..shape.view import array_of
from .matmul import mT
from .product_checks import by, dtype_names


class LinAlgError(RuntimeError):
    """Raised if a matrix is singular, or not positive-definite, and an op needs it to be.

    >>> from minigrad import linalg, zeros
    >>> try:
    ...     linalg.inv(zeros(2, 2))
    ... except linalg.LinAlgError as error:
    ...     print(str(error)[:42])
    linalg.inv: The diagonal element 1 is zero
    """


def require_matrix(name, matrices):
    """Raise unless the input has at least two dimensions and is floating-point."""
    array = array_of(matrices)
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    require_float(array, name + ": Expected a floating point or complex tensor as input. Got {}")


def require_square(name, matrices):
    """Raise unless the input is a batch of square floating-point matrices."""
    require_matrix(name, matrices)
    rows, columns = matrices.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {rows} by "
                           f"{columns} matrices")


def require_for_lapack(array, kernel):
    """Raise PyTorch's error unless the dtype is float32 or float64, as LAPACK needs."""
    if array.dtype.char not in "fd":
        raise NotImplementedError(
            f'"{kernel}" not implemented for \'{dtype_names(array)[0]}\'')


def square(shape, *_, **__):
    """Return the shape unchanged."""
    if len(shape) < 2:
        raise RuntimeError("The input tensor A must have at least 2 dimensions.")
    return tuple(shape)


def failing(matrices, fails):
    """Return the name of the first matrix that fails, for errors, and the result of `fails` on it.
    """
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    for i, matrix in enumerate(flat):
        failed = fails(matrix)
        if failed:
            return (f"(Batch element {i}): " if matrices.ndim > 2 else ""), failed
    return "", matrices.shape[-1]


def zero_pivot(xp):
    """Return a function that finds the 1-based index of the first zero on U's diagonal, or `None`.
    """

    def find(matrix):
        zeros, = xp.nonzero(xp.diagonal(xp.lu_factor(matrix)[0]) == 0)
        return zeros[0].item() + 1 if len(zeros) else None

    return find


def lower_factor(xp, matrices):
    """Return the lower triangular L with L L.T = A; raise `LinAlgError` if L doesn't exist."""
    L = xp.linalg.cholesky(matrices)
    if xp.may_ask() and xp.isnan(xp.diagonal(L, 0, -2, -1)).any():
        raise xp.linalg.LinAlgError
    return L


def bad_minor(xp):
    """Return a function that finds the first leading minor that is not positive-definite."""

    def find(matrix):
        for k in range(1, len(matrix) + 1):
            try:
                lower_factor(xp, matrix[:k, :k])
            except xp.linalg.LinAlgError:
                return k
        return None

    return find


# ------------------------------------------------------------------------------- inverse, solve


def columns(xp, matrices):
    """Copy matrices to column-major order, in which LAPACK returns them."""
    rows = xp.empty_like(matrices.swapaxes(-1, -2), order="C")
    result = xp.empty_like(rows.swapaxes(-1, -2))  # an array that owns its memory
    result[...] = matrices
    return result


class OfSquares(Op, abstract=True):
    """An op on square matrices."""

    method = False

    def samples(make):
        yield make(3, 3)
        yield make(2, 3, 3)


class LinalgInv(OfSquares):
    """The inverses of square matrices; raises `LinAlgError` if a matrix is singular.

    d inv(A) = -inv(A) dA inv(A).

    >>> from minigrad import linalg, tensor
    >>> linalg.inv(tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """

    out = "exact overlap"
    node, shape = "InverseBackward", square

    def forward(xp, self):
        require_square("linalg.inv", self)
        try:
            return columns(xp, xp.linalg.inv(self))
        except xp.linalg.LinAlgError:
            where, pivot = failing(self, zero_pivot(xp))
            raise LinAlgError(
                f"linalg.inv: {where}The diagonal element {pivot} is zero, the inversion could not "
                "be completed because the input matrix is singular.") from None

    def grad_self(g, result): return -(mT(result) @ g @ mT(result))


@function(out="exact")
def inverse(input):
    """Return the inverses of square matrices; raise `LinAlgError` if a matrix is singular.

    >>> from minigrad import tensor
    >>> tensor([[2.0]]).inverse()
    tensor([[0.5000]])
    """
    return F.linalg_inv(input)


def require_fitting(name, A, B, left):
    """Raise unless the shapes of A and B fit A X = B, or X A = B unless `left`."""
    if A[-1] != B[-2 if left else -1]:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation "
                           f"{'AX = B' if left else 'XA = B'} ({by(A[-2:])} and {by(B[-2:])})")


TWO_DTYPES = ("linalg.solve: Expected A and B to have the same dtype, but found A of type {} and B "
              "of type {} instead")


class Solve(Op):
    """The solution X of A X = B, for batches of matrices; the gradient for A is -inv(A).T g X.T.

    With `check=False`, a singular matrix gives infinities and nan instead of an error.  Backward
    passes need this, because the matrix may have been changed through `.data` since.

    >>> from minigrad import tensor
    >>> Solve(tensor([[2.0]]), tensor([[4.0]]))
    tensor([[2.]])
    """

    name, node, public = "linalg_solve", "LinalgSolveBackward", False

    def shape(A, B, vector=False, check=True):
        rows = B[-1:] if vector else B[-2:]
        return (*broadcast(A[:-2], B[:-len(rows)]), *rows)

    def forward(xp, A, B, vector=False, check=True):
        require_square("linalg.solve", A)
        require_one_dtype(TWO_DTYPES, A, B)
        B = B[..., None] if vector else B
        try:
            solution = xp.linalg.solve(A, B)
        except xp.linalg.LinAlgError:
            if check:
                where, _ = failing(A, zero_pivot(xp))
                raise LinAlgError(f"torch.linalg.solve: {where}The solver failed because the "
                                  "input matrix is singular.") from None
            solution = xp.lu_solve(A, B)
        solution = solution[..., 0] if vector else solution
        return columns(xp, solution) if solution.ndim > 1 else solution

    def grad_A(g, A, result, vector):
        solution = Solve(mT(A), g, vector, False)
        if vector:
            solution, result = F.unsqueeze(solution, -1), F.unsqueeze(result, -1)
        return -(solution @ mT(result))

    def grad_B(g, A, result, vector): return Solve(mT(A), g, vector, False)

    def samples(make):
        yield make(3, 3), make(3, 2)
        yield make(2, 3, 3), make(3, 1)
        yield make(2, 3, 3), make(3), True


@function(method_too=False, out="exact overlap")
def linalg_solve(A, B, *, left=True):
    """Return the X with A X = B, or with X A = B unless `left`; B may be a vector.

    >>> from minigrad import linalg, tensor
    >>> linalg.solve(tensor([[2.0, 0.0], [0.0, 4.0]]), tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    require_square("linalg.solve", A)
    if not B.ndim:
        require_one_dtype(TWO_DTYPES, A, B)
        raise RuntimeError("linalg.solve: The input tensor B must have at least 2 dimensions.")
    vector = B.ndim == 1 or (A.ndim == B.ndim + 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    if vector and left and A.shape[-1] == B.shape[-1]:
        return Solve(A, B, True)
    if vector:
        B = F.unsqueeze(B, -1)
    require_fitting("linalg.solve", A.shape, B.shape, left)
    if not left:
        A, B = mT(A), mT(B)
    X = Solve(A, B)
    X = X if left else mT(X)
    return F.squeeze(X, -1) if vector else X


# ------------------------------------------------------------------------------- determinants


def inverse_transposed(g, A):
    """Return g inv(A).T, with infinities or nan where A is singular."""
    diagonal = F.expand(F.unsqueeze(g, -1), tuple(A.shape[:-1]))
    return Solve(mT(A), F.diag_embed(diagonal), False, False)


def determinant_backward(g, A, det):
    """Return the gradient of det(A): g det(A) inv(A).T, the matrix of g times the cofactors."""
    if F.all(F.ne(det, 0)):
        return inverse_transposed(g * det, A)
    # A singular matrix has no inverse, but it has cofactors; compute them from the SVD.
    U, S, Vh = F.linalg_svd(A, full_matrices=False)
    sign = F.linalg_det(U) * F.linalg_det(Vh)
    cofactors = F.unsqueeze(F.unsqueeze(sign, -1) * others(S, -1), -2)
    return F.unsqueeze(F.unsqueeze(g, -1), -1) * ((U * cofactors) @ Vh)


class LinalgDet(OfSquares):
    """The determinants of square matrices.

    >>> from minigrad import linalg, tensor
    >>> linalg.det(tensor([[2.0, 1.0], [0.0, 4.0]]))
    tensor(8.)
    """

    out = "exact overlap"
    node = "DetBackward"

    def shape(A): return A[:-2]

    def forward(xp, self):
        require_square("linalg.det", self)
        return xp.linalg.det(self)

    def grad_self(g, self, result): return determinant_backward(g, self, result)


@function()
def det(input):
    """Return the determinants of square matrices.

    >>> from minigrad import eye
    >>> eye(3).det()
    tensor(1.)
    """
    return F.linalg_det(input)


class Slogdet(OfSquares):
    """The sign of the determinant and the log of its absolute value; d log|det A| = inv(A).T.

    >>> from minigrad import eye
    >>> eye(3).slogdet().sign
    tensor(1.)
    """

    out = "exact"
    method, outputs, materialize = True, ("sign", "logabsdet"), False

    def shape(A): return [A[:-2]] * 2

    def forward(xp, self):
        require_square("linalg.slogdet", self)
        sign, logabsdet = xp.linalg.slogdet(self)
        return xp.where(xp.isnan(logabsdet), xp.zeros_like(sign), sign), logabsdet

    def grad_self(g_logabsdet, self, sign):
        if g_logabsdet is None:
            return None
        return inverse_transposed(g_logabsdet, self)


LinalgSlogdet = named_result("linalg_slogdet", ("sign", "logabsdet"))


@function(method_too=False, out="exact")
def linalg_slogdet(A):
    """Return the sign of the determinant and the logarithm of its absolute value.

    >>> from minigrad import eye, linalg
    >>> linalg.slogdet(eye(3)).logabsdet
    tensor(0.)
    """
    return LinalgSlogdet(*F.slogdet(A))


@function()
def logdet(input):
    """Return the logarithm of the determinant, or nan if it is negative.

    >>> from minigrad import eye
    >>> eye(3).logdet()
    tensor(0.)
    """
    sign, logabsdet = F.slogdet(input)
    return F.where(F.lt(sign, 0), float("nan"), logabsdet)


# ------------------------------------------------------------------------------- factorizations


class LinalgCholesky(Op):
    """The lower triangular L with L L.T = A (or its transpose, if `upper`).

    Raises `LinAlgError` unless the matrices are positive-definite.

    >>> from minigrad import linalg, tensor
    >>> linalg.cholesky(tensor([[4.0]]))
    tensor([[2.]])
    """

    out = "exact"
    node, method, shape = "CholeskyBackward", False, square

    def forward(xp, self, *, upper=False):
        require_square("linalg.cholesky", self)
        try:
            L = lower_factor(xp, xp.swapaxes(self, -1, -2) if upper else self)
        except xp.linalg.LinAlgError:
            where, order = failing(self, bad_minor(xp))
            raise LinAlgError(
                f"linalg.cholesky: {where}The factorization could not be completed because the "
                f"input is not positive-definite (the leading minor of order {order} is not "
                "positive-definite).") from None
        return xp.swapaxes(L, -1, -2) if upper else L

    def grad_self(g, result, upper):
        g, L = (mT(g), mT(result)) if upper else (g, result)
        product = mT(L) @ g
        half = (F.tril(product) + F.tril(product, -1)) / 2  # the lower part, its diagonal halved
        half = F.linalg_solve_triangular(mT(L), half, upper=True)
        half = F.linalg_solve_triangular(L, half, upper=False, left=False)
        return (half + mT(half)) / 2

    def samples(make):
        # Only one triangle is read but the gradient is symmetric, so gradcheck fits only 1 x 1.
        yield make(1, 1, low=1)
        yield make(3, 1, 1, low=1), {"upper": True}


@function(out="cast")
def cholesky(input, upper=False):
    """Return the lower triangular L with L L.T = input (or its transpose, if `upper`).

    Raises `LinAlgError` unless the matrices are positive-definite.

    >>> from minigrad import tensor
    >>> tensor([[4.0]]).cholesky()
    tensor([[2.]])
    """
    warn_user_once(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
        "future PyTorch release.\nL = torch.cholesky(A)\nshould be replaced with\n"
        "L = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\nshould be replaced "
        "with\nU = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent results for "
        "all valid (symmetric positive definite) inputs.")
    return F.linalg_cholesky(input, upper=upper)


def symmetrised(x):
    """Return the symmetric matrix with the given lower triangle."""
    return F.tril(x) + mT(F.tril(x, -1))


class LinalgQr(Op):
    """The Q with orthonormal columns and the upper triangular R with Q R = A, for m >= n.

    >>> from minigrad import eye, linalg
    >>> linalg.qr(eye(2)).R.shape
    torch.Size([2, 2])
    """

    node, public, outputs = "QrBackward", False, ("Q", "R")

    def shape(A):
        k = min(A[-2:])
        return [(*A[:-1], k), (*A[:-2], k, A[-1])]

    def forward(xp, self):
        require_matrix("linalg.qr", self)
        return tuple(xp.linalg.qr(self))

    def grad_self(g_Q, g_R, Q, R):
        inside = symmetrised(mT(g_R @ mT(R) - mT(Q) @ g_Q))
        return F.linalg_solve_triangular(mT(R), g_Q + Q @ inside, upper=False, left=False)

    def samples(make):
        yield make(3, 3)
        yield make(2, 4, 3)


class QrComplete(Op):
    """The square Q and tall R with Q R = A, for m > n; backward raises `RuntimeError`.

    >>> from minigrad import ones
    >>> QrComplete(ones(3, 2)).Q.shape
    torch.Size([3, 3])
    """

    name, public, nondifferentiable, outputs = "linalg_qr", False, True, ("Q", "R")
    not_implemented_derivative = (
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")

    def shape(A): return [(*A[:-1], A[-2]), A]

    def forward(xp, self):
        require_matrix("linalg.qr", self)
        return tuple(xp.linalg.qr(self, "complete"))

    def samples(make):
        yield make(3, 2)


@function(method_too=False, out="exact")
def linalg_qr(A, mode="reduced"):
    """Return orthonormal Q and upper triangular R with Q R = A; modes: reduced, complete, r.

    >>> from minigrad import linalg, ones
    >>> linalg.qr(ones(3, 2)).Q.shape
    torch.Size([3, 2])
    """
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' "
                           "(default), 'r', or 'complete'")
    require_matrix("linalg.qr", A)
    m, n = A.shape[-2:]
    if mode == "complete" and m > n:
        return QrComplete(A)
    if m >= n:
        Q, R = LinalgQr(A)
    else:  # factor the first m columns, and apply Q to the others
        Q, R = LinalgQr(F.narrow(A, -1, 0, m))
        R = F.cat([R, mT(Q) @ F.narrow(A, -1, m, n - m)], -1)
    return LinalgQr.result_type(F.new_zeros(Q, (0,)) if mode == "r" else Q, R)


Qr = named_result("qr", ("Q", "R"))


@function(out="exact")
def qr(input, some=True):
    """Return orthonormal Q and upper triangular R with Q R = input.

    >>> from minigrad import eye
    >>> eye(2).qr().Q.shape
    torch.Size([2, 2])
    """
    warn_user_once(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future "
        "PyTorch release.\nThe boolean parameter 'some' has been replaced with a string parameter "
        "'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')")
    return Qr(*F.linalg_qr(input, "reduced" if some else "complete"))
