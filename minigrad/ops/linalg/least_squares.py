"""Least squares: the best solution of a system with too many or too few equations."""

from ...op.declaration import F
from ...op.publish import function
from ...op.results import named_result
from ...shapes import broadcast
from ..checks import require_one_dtype
from ..shape.view import array_of
from .svd_eigh import relative_tolerance

LinalgLstsq = named_result("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))

#: LAPACK's names for its algorithms. Here all use the same one, but they return different values.
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def check_system(A, B, driver):
    """Check that arrays make systems of equations; return whether the right-hand sides are vectors.
    """
    name = "torch.linalg.lstsq: "
    if A.ndim < 2:
        raise RuntimeError(name + "input must have at least 2 dimensions.")
    if not B.ndim:
        raise RuntimeError(name + "other must have at least 1 dimension.")
    require_one_dtype(name + "Expected input and other to have the same dtype, but got input's "
                             "dtype {} and other's dtype {}", A, B)
    if not 0 <= A.ndim - B.ndim <= 1:
        raise RuntimeError(name + "input.dim() must be greater or equal to other.dim() and "
                                  "(input.dim() - other.dim()) <= 1")
    vector = A.ndim > B.ndim
    place = -1 if vector else -2
    broadcast(A.shape[:-2], B.shape[:place])
    if A.shape[-2] != B.shape[place]:
        raise RuntimeError(f"{name}input.size(-2) should match other.size({place})")
    if driver not in DRIVERS:
        raise RuntimeError(f"{name}parameter `driver` should be one of ({', '.join(DRIVERS)})")
    if A.dtype.char not in "fd":
        raise RuntimeError("This function doesn't handle types other than float and double")
    return vector


@function(method_too=False, out="cast")
def linalg_lstsq(A, B, rcond=None, *, driver=None):
    """Return the X that minimizes |A X - B|, with the smallest norm if there are several.

    Singular values up to `rcond` times the largest count as zero.  The solution's gradient is
    computed through the pseudoinverse.  As in PyTorch, the default driver "gelsy" returns no
    residuals, "gels" no rank, and both no singular values; there are residuals only for tall
    matrices of full rank.

    >>> from minigrad import linalg, tensor
    >>> linalg.lstsq(tensor([[1.0], [1.0]]), tensor([[1.0], [3.0]])).solution
    tensor([[2.0000]])
    """
    driver = "gelsy" if driver is None else driver
    vector = check_system(array_of(A), array_of(B), driver)
    B = F.unsqueeze(B, -1) if vector else B
    rcond = relative_tolerance(A) if rcond is None else rcond
    X = F.matmul(F.pinverse(A, rcond), B)
    values = F.linalg_svdvals(F.detach(A))
    limit = F.amax(values, -1, True) * rcond if values.shape[-1] else values
    rank = F.sum(F.gt(values, limit), -1)
    m, n = A.shape[-2:]
    residuals = F.narrow(F.reshape(X, (-1,)), 0, 0, 0)  # empty, but it requires grad if X does
    if m > n and (driver == "gels" or (driver != "gelsy" and F.all(F.eq(rank, n)))):
        off = F.matmul(A, X) - B
        residuals = F.sum(off * off, -2)
    if driver == "gels":
        rank = F.new_zeros(rank, (0,))
    if driver in ("gels", "gelsy"):
        values = F.new_zeros(values, (0,))
    return LinalgLstsq(F.squeeze(X, -1) if vector else X, residuals, rank, values)
