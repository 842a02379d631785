"""Singular values and eigenvalues: SVD, eigh, the pseudoinverse, the rank.

The gradient of a vector divides by the differences between its value and every other one.  The
gradient of the values does not, so if only they receive a gradient, the vectors' part is skipped.
"""

from ...op.declaration import F, Op
from ...op.publish import function
from ...op.results import named_result
from ..overloads import is_tensor
from ..shape.view import array_of
from .decompositions import LinAlgError, failing, require_matrix, require_square
from .matmul import mT


def differences(values):
    """Return values[j] - values[i] at (i, j), with ones on the diagonal."""
    ones = F.diag_embed(F.ones_like(values))
    return F.unsqueeze(values, -2) - F.unsqueeze(values, -1) + ones


def skew(x):
    """Return x - x.T."""
    return x - mT(x)


def first_columns(x, k):
    """Return the first k columns; `None` stays `None`."""
    return None if x is None else F.narrow(x, -1, 0, k)


def no_svd(xp, matrices):
    """Return the error that names the first matrix whose SVD failed."""
    where, _ = failing(matrices, lambda matrix: not xp.isfinite(matrix).all())
    why = ("contained non-finite values." if not xp.isfinite(matrices).all() else
           "is ill-conditioned or has too many repeated singular values.")
    return LinAlgError(f"linalg.svd: {where}The algorithm failed to converge because the input "
                       f"matrix {why}")


class LinalgSvd(Op):
    """Singular values S in descending order, and singular vectors: U diag(S) Vh = A.

    The gradient through the vectors is finite only if the singular values are distinct.

    >>> from minigrad import linalg, tensor
    >>> linalg.svd(tensor([[3.0, 0.0], [0.0, 2.0]])).S
    tensor([3., 2.])
    """

    out = "exact"
    node, method, outputs, materialize = "SvdBackward", False, ("U", "S", "Vh"), False

    def shape(A, full_matrices=True):
        m, n = A[-2:]
        k = min(m, n)
        return [(*A[:-1], m if full_matrices else k), (*A[:-2], k),
                (*A[:-2], n if full_matrices else k, n)]

    def forward(xp, self, full_matrices=True):
        require_matrix("linalg.svd", self)
        try:
            return tuple(xp.linalg.svd(self, full_matrices))
        except xp.linalg.LinAlgError:
            raise no_svd(xp, self) from None

    def grad_self(g_U, g_S, g_Vh, U, S, Vh, self_sizes):
        m, n = self_sizes[-2:]
        k = min(m, n)
        V = first_columns(mT(Vh), k)
        g_V = first_columns(None if g_Vh is None else mT(g_Vh), k)
        return svd_backward(first_columns(g_U, k), g_S, g_V, first_columns(U, k), S, V)

    def samples(make):
        yield make(3, 3)
        yield make(2, 4, 3), False
        yield make(2, 3), False


def svd_backward(g_U, g_S, g_V, U, S, V):
    """Return the gradient of the reduced SVD; a missing gradient is `None`."""
    Vh, row, column = mT(V), F.unsqueeze(S, -2), F.unsqueeze(S, -1)
    if g_U is None and g_V is None:
        return (U * F.unsqueeze(g_S, -2)) @ Vh
    inside = 0 if g_S is None else F.diag_embed(g_S)
    gaps = differences(S * S)
    if g_U is not None:
        inside = inside + skew(mT(U) @ g_U) / gaps * row
    if g_V is not None:
        inside = inside + column * (skew(mT(V) @ g_V) / gaps)
    result = U @ inside @ Vh
    if g_U is not None:  # the part outside the span of U
        outside = g_U / row
        result = result + (outside - U @ (mT(U) @ outside)) @ Vh
    if g_V is not None:
        outside = g_V / row
        result = result + U @ mT(outside - V @ (Vh @ outside))
    return result


Svd = named_result("svd", ("U", "S", "V"))


@function(out="exact overlap")
def svd(input, some=True, compute_uv=True):
    """Return U, S and V with U diag(S) V.T = input; U and V are zeros unless `compute_uv`.

    >>> from minigrad import tensor
    >>> tensor([[3.0, 0.0], [0.0, 2.0]]).svd().S
    tensor([3., 2.])
    """
    U, S, Vh = F.linalg_svd(input, not some)
    if not compute_uv:
        m, n = input.shape[-2:]
        batch = tuple(input.shape[:-2])
        return Svd(F.new_zeros(input, (*batch, m, m)), S, F.new_zeros(input, (*batch, n, n)))
    return Svd(U, S, mT(Vh))


@function(method_too=False, out="exact overlap")
def linalg_svdvals(A):
    """Return the singular values in descending order.

    >>> from minigrad import linalg, tensor
    >>> linalg.svdvals(tensor([[3.0, 0.0], [0.0, 2.0]]))
    tensor([3., 2.])
    """
    return F.linalg_svd(A, False)[1]


class LinalgEigh(Op):
    """Eigenvalues in ascending order and orthonormal eigenvectors of symmetric matrices.

    Reads only the triangle that `UPLO` names.  The gradient through the eigenvectors is finite only
    if the eigenvalues are distinct.

    >>> from minigrad import linalg, tensor
    >>> linalg.eigh(tensor([[3.0, 0.0], [0.0, 2.0]])).eigenvalues
    tensor([2., 3.])
    """

    out = "exact"
    method, materialize = False, False
    outputs = ("eigenvalues", "eigenvectors")

    def shape(A, UPLO="L"): return [A[:-1], A]

    def forward(xp, self, UPLO="L"):
        require_square("linalg.eigh", self)
        if UPLO.upper() not in ("L", "U"):
            raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
        return tuple(xp.linalg.eigh(self, UPLO.upper()))

    def grad_self(g_eigenvalues, g_eigenvectors, eigenvalues, eigenvectors):
        V = eigenvectors
        if g_eigenvectors is None:
            return (V * F.unsqueeze(g_eigenvalues, -2)) @ mT(V)
        inside = mT(V) @ g_eigenvectors
        inside = (inside - mT(inside)) / 2 / differences(eigenvalues)  # for symmetric matrices
        if g_eigenvalues is not None:
            inside = inside + F.diag_embed(g_eigenvalues)
        return V @ inside @ mT(V)

    def samples(make):
        # Only one triangle is read but the gradient is symmetric, so gradcheck fits only 1 x 1.
        yield make(1, 1)
        yield make(3, 1, 1), "U"


@function(method_too=False, out="exact overlap")
def linalg_eigvalsh(A, UPLO="L"):
    """Return the eigenvalues of symmetric matrices in ascending order.

    >>> from minigrad import eye, linalg
    >>> linalg.eigvalsh(eye(2))
    tensor([1., 1.])
    """
    return F.linalg_eigh(A, UPLO)[0]


class Pinverse(Op):
    """The pseudoinverses; singular values below rcond times the largest count as zero.

    >>> from minigrad import ones
    >>> ones(2, 2).pinverse()
    tensor([[0.2500, 0.2500],
            [0.2500, 0.2500]])
    """

    def shape(A, rcond=1e-15): return (*A[:-2], A[-1], A[-2])

    def forward(xp, self, rcond=1e-15):
        require_matrix("linalg.pinv", self)
        try:
            return xp.linalg.pinv(self, rcond)
        except xp.linalg.LinAlgError:
            raise no_svd(xp, self) from None

    def grad_self(g, self, result):
        At, P, Pt, gt = mT(self), result, mT(result), mT(g)
        return mT(P @ Pt @ (g - g @ Pt @ At)) + mT((g - At @ Pt @ g) @ Pt @ P) - mT(P @ gt @ P)

    def samples(make):
        yield make(3, 3)
        yield make(2, 4, 3)
        yield make(2, 3)


class PinverseOfSymmetric(Pinverse):
    """The pseudoinverses of symmetric matrices; reads only the lower triangle.

    >>> from minigrad import ones
    >>> PinverseOfSymmetric(ones(2, 2), 1e-6)
    tensor([[0.2500, 0.2500],
            [0.2500, 0.2500]])
    """

    name = "linalg_pinv"
    node = "PinverseBackward"
    public = False

    def shape(A, rcond): return A

    def forward(xp, self, rcond):
        require_square("linalg.eigh", self)
        values, vectors = xp.linalg.eigh(self, "L")
        sizes = xp.absolute(values)  # ascending eigenvalues: the largest size is first or last
        zero = sizes <= rcond * xp.maximum(sizes[..., :1], sizes[..., -1:])
        inverse = xp.where(zero, 0, 1 / xp.where(zero, 1, values))
        return (vectors * inverse[..., None, :]) @ xp.swapaxes(vectors, -2, -1)

    def samples(make):
        # as in `LinalgEigh`
        yield make(1, 1, low=0.5), 1e-6
        yield make(3, 1, 1, low=0.5), 1e-6


def relative_tolerance(A):
    """Return the default relative tolerance below which a singular value counts as zero."""
    return max(A.shape[-2:]) * 2.0 ** {2: -10, 4: -23, 8: -52}[array_of(A).dtype.itemsize]


@function(method_too=False, out="cast overlap")
def linalg_pinv(A, *, rcond=None, rtol=None, hermitian=False):
    """Return the pseudoinverses; singular values below rtol times the largest count as zero.

    With `hermitian`, reads only the lower triangle of each matrix.

    >>> from minigrad import linalg, ones
    >>> linalg.pinv(ones(2, 3)).shape
    torch.Size([3, 2])
    """
    require_matrix("linalg.pinv", A)
    tolerance = rtol if rtol is not None else rcond
    tolerance = relative_tolerance(A) if tolerance is None else tolerance
    return PinverseOfSymmetric(A, tolerance) if hermitian else F.pinverse(A, tolerance)


@function(method_too=False, out="cast overlap expanded")
def linalg_matrix_rank(A, tol=None, *, atol=None, rtol=None, hermitian=False):
    """Return how many singular values exceed both `atol` and `rtol` times the largest.

    Either may be a tensor with one number per matrix.  `tol` is an older name for `atol`, with
    `rtol` 0.  If you pass neither, the tolerance is the rounding error.  With `hermitian`, reads
    only the lower triangle.

    >>> from minigrad import linalg, ones
    >>> linalg.matrix_rank(ones(2, 3))
    tensor(1)
    """
    require_matrix("linalg.matrix_rank", A)
    atol = tol if atol is None else atol
    if rtol is None:
        positive = is_tensor(atol) or (atol or 0) > 0
        rtol = 0.0 if tol is not None or positive else relative_tolerance(A)
        if is_tensor(atol) and tol is None:  # zeros in a tensor mean the default tolerance
            rtol = F.where(F.gt(atol, 0), 0.0, relative_tolerance(A))
    values = F.abs(F.linalg_eigvalsh(A)) if hermitian else F.linalg_svdvals(A)
    if not values.shape[-1]:
        return F.zeros(tuple(A.shape[:-2]), dtype=F.sum(F.gt(values, 0)).dtype, device=A.device)
    limit = F.amax(values, -1) * rtol
    if atol is not None:
        limit = F.maximum(limit, atol if is_tensor(atol) else F.full_like(limit, atol))
    return F.sum(F.gt(values, F.unsqueeze(limit, -1)), -1)
