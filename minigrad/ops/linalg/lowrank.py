"""Approximate decompositions of low rank, by random projections.

Source: Halko, Martinsson and Tropp, Finding structure with randomness, https://arxiv.org/abs/0909.4061
"""

from __future__ import annotations

from ...op.declaration import F
from ...op.publish import function
from ...tensor.tensor import Tensor
from ..random.sampling import randn


def approximate_basis(matrix: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """Return `q` orthonormal columns that nearly span the columns of `matrix - M`."""

    def applied(transposed: bool, factor: Tensor) -> Tensor:
        parts = [F.matmul(each.mT if transposed else each, factor)
                 for each in (matrix, M) if each is not None]
        return parts[0] if M is None else parts[0] - parts[1]

    directions = randn(matrix.shape[-1], q, dtype=matrix.dtype, device=matrix.device)
    basis: Tensor = F.linalg_qr(applied(False, directions))[0]
    for _ in range(niter):
        basis = F.linalg_qr(applied(True, basis))[0]
        basis = F.linalg_qr(applied(False, basis))[0]
    return basis


@function(method_too=False)
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
                ) -> tuple[Tensor, Tensor, Tensor]:
    """Return U, S and V of rank `q` with U diag(S) V^T near `A - M`.  Source: `torch.svd_lowrank`.

    >>> from minigrad import ones, svd_lowrank
    >>> U, S, V = svd_lowrank(ones(3, 2), q=1)
    >>> U.shape, S, V.shape
    (torch.Size([3, 1]), tensor([2.4495]), torch.Size([2, 1]))
    """
    m, n = A.shape[-2:]
    if M is not None:
        M = F.broadcast_to(M, A.shape)
    if m < n:
        A, M = A.mT, None if M is None else M.mT
    basis = approximate_basis(A, 6 if q is None else q, 2 if niter is None else niter, M)
    small = F.matmul(basis.mT, A)
    if M is not None:
        small = small - F.matmul(basis.mT, M)
    U, S, Vh = F.linalg_svd(small, full_matrices=False)
    U, V = F.matmul(basis, U), Vh.mT
    return (V, S, U) if m < n else (U, S, V)


@function(method_too=False)
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
                ) -> tuple[Tensor, Tensor, Tensor]:
    """Return the principal components of the rows of `A`: U, S and V of rank `q`.

    Raises `ValueError` for a wrong rank.  Source: `torch.pca_lowrank`.

    >>> from minigrad import pca_lowrank, tensor
    >>> pca_lowrank(tensor([[0.0, 0.0], [2.0, 0.0]]), q=1)[1]
    tensor([1.4142])
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)="
                         f"{min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - F.mean(A, -2, True)
    result: tuple[Tensor, Tensor, Tensor] = svd_lowrank(A, q, niter)
    return result
