"""Products of Householder reflections I - tau v v.T, which a QR factorization consists of.

NOTE [Many reflections in one step]
    A product of k reflections is I - V T V.T with an upper triangular (k, k) matrix T.  Let D be
    the diagonal matrix of the taus and S the part of V.T V above its diagonal; then
    T = inv(I + D S) D, because each further reflection adds a column for which this still holds.
    So a product of any number of reflections is two matrix products and a triangular solve, and
    autograd knows the derivatives of these.

    Source: Schreiber and Van Loan, "A storage-efficient WY representation for products of
    Householder transformations" (1989); Joffrain et al., "Accumulating Householder
    transformations, revisited" (2006)
"""

from ...op.declaration import F, Op
from ...op.publish import function
from ..shape.view import array_of
from .decompositions import require_for_lapack
from .matmul import mT
from .product_checks import dtype_names


class Geqrf(Op):
    """A QR factorization in LAPACK's form: R with the reflection vectors below it, and the taus.

    The first element of each vector is 1 and is not stored.  There is no derivative.

    Source: `torch.geqrf`

    >>> from minigrad import geqrf, tensor
    >>> geqrf(tensor([[3.0], [4.0]])).a
    tensor([[-5.0000],
            [ 0.5000]])
    """

    out = "cast"
    outputs = ("a", "tau")

    def shape(A): return [A, (*A[:-2], min(A[-2:]))]

    def forward(xp, self):
        if self.ndim < 2:
            raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
        require_for_lapack(self, "geqrf_cpu")
        columns, tau = xp.linalg.qr(self, "raw")
        return xp.swapaxes(columns, -1, -2), tau

    def grad_self(g_a, g_tau):
        raise NotImplementedError("the derivative for 'geqrf' is not implemented.")

    def jvp(op, values, outputs, tangents):
        raise NotImplementedError("Trying to use forward AD with geqrf that does not support it "
                                  "because it has not been implemented yet.")

    def samples(make):
        yield make(3, 3).detach(),
        yield make(2, 4, 3).detach(),
        yield make(2, 3).detach(),


def check_reflections(name, vectors, tau):
    """Raise unless vectors (*, m, n) and taus (*, k) with k <= n define reflections."""
    if vectors.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if tau.ndim != vectors.ndim - 1:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input, but got "
                           f"tau.ndim equal to {tau.ndim} and input.ndim is equal to "
                           f"{vectors.ndim}")


def check_batch(name, what, shape, vectors):
    """Raise unless a shape has the batch dimensions of the vectors."""
    if tuple(shape) != tuple(vectors.shape[:-2]):
        raise RuntimeError(f"{name}: Expected batch dimensions of {what} to be equal to "
                           f"input.shape[:-2], but got {list(shape)}")


def reflected(vectors, tau, X, transposed=False):
    """Return (I - V T V.T) X, or with T.T; see NOTE [Many reflections in one step]."""
    m, k = vectors.shape[-2], tau.shape[-1]
    ones = F.eye(m, k, dtype=vectors.dtype, device=vectors.device)
    V = F.tril(F.narrow(vectors, -1, 0, k), -1) + ones
    D = F.unsqueeze(tau, -1)
    system, inside = F.triu(D * (mT(V) @ V), 1), mT(V) @ X
    if transposed:  # T.T = D inv(I + D S).T
        inside = D * F.linalg_solve_triangular(mT(system), inside, upper=False, unitriangular=True)
    else:
        inside = F.linalg_solve_triangular(system, D * inside, upper=True, unitriangular=True)
    return X - V @ inside


@function(method_too=False, out="cast")
def linalg_householder_product(A, tau):
    """Return the first n columns of the product of reflections I - tau v v.T.

    The vectors are the columns of A, (*, m, n), below the diagonal, with an implicit 1 on it; tau
    is (*, k) with k <= n <= m.  Applied to the result of `geqrf`, this returns the Q of the QR
    factorization.

    Source: `torch.linalg.householder_product`

    >>> from minigrad import geqrf, linalg, tensor
    >>> linalg.householder_product(*geqrf(tensor([[3.0], [4.0]])))
    tensor([[-0.6000],
            [-0.8000]])
    """
    name = "torch.linalg.householder_product"
    if A.ndim >= 2 and A.shape[-2] < A.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to "
                           "input.shape[-1]")
    if A.ndim >= 2 and tau.ndim and A.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to "
                           "tau.shape[-1]")
    check_reflections(name, A, tau)
    check_batch(name, "tau", tau.shape[:-1], A)
    if A.dtype != tau.dtype:
        ours, theirs = dtype_names(A, tau)
        raise RuntimeError(f"{name}: tau dtype {theirs} does not match input dtype {ours}")
    require_for_lapack(array_of(A), "orgqr_cpu")
    identity = F.eye(*A.shape[-2:], dtype=A.dtype, device=A.device)
    return reflected(A, tau, F.expand(identity, tuple(A.shape)))


@function(out="cast")
def orgqr(input, tau):
    """Return `linalg.householder_product(input, tau)`, under an older name.

    Source: `torch.orgqr`

    >>> from minigrad import geqrf, orgqr, tensor
    >>> orgqr(*geqrf(tensor([[3.0], [4.0]])))
    tensor([[-0.6000],
            [-0.8000]])
    """
    return F.linalg_householder_product(input, tau)


@function(out="exact")
def ormqr(input, tau, other, left=True, transpose=False):
    """Return Q other, or other Q unless `left`, where Q is the product (*, m, m) of reflections.

    With `transpose`, Q is transposed.  Q itself is not computed.

    Source: `torch.ormqr`

    >>> from minigrad import geqrf, ormqr, tensor
    >>> a, tau = geqrf(tensor([[3.0], [4.0]]))
    >>> ormqr(a, tau, tensor([[3.0], [4.0]]), transpose=True)
    tensor([[-5.],
            [ 0.]])
    """
    name, side = "torch.ormqr", -2 if left else -1
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if other.ndim < 2:
        raise RuntimeError(f"{name}: other must have at least 2 dimensions.")
    if other.shape[side] != input.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    check_reflections(name, input, tau)
    if other.ndim != input.ndim:
        raise RuntimeError(f"{name}: Expected other to have the same number of dimensions as "
                           f"input, but got other.ndim equal to {other.ndim} and input.ndim is "
                           f"equal to {input.ndim}")
    check_batch(name, "tau", tau.shape[:-1], input)
    check_batch(name, "other", other.shape[:-2], input)
    if tau.shape[-1] > min(other.shape[side], input.shape[-1]):
        raise RuntimeError(f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], "
                           "input.shape[-1])")
    for what, tensor in (("tau", tau), ("other", other)):
        if tensor.dtype != input.dtype:
            ours, theirs = dtype_names(input, tensor)
            raise RuntimeError(f"{name}: Expected input and {what} to have the same dtype, but "
                               f"input has dtype{ours} and {what} has dtype {theirs}")
    require_for_lapack(array_of(input), "ormqr_cpu")
    if left:
        return reflected(input, tau, other, transpose)
    return mT(reflected(input, tau, mT(other), not transpose))
