"""Distributions parametrized by a covariance matrix, its inverse, or its Cholesky factor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["ByMatrix"]


def factor_of_inverse(precision: Any) -> Any:
    """Return the lower triangular L with L L^T = P^-1.

    Flip both dimensions of P, take the Cholesky factor, and flip that back: the result is an upper
    triangular U with U U^T = P, so L is the inverse of U^T.
    """
    upper = F.flip(F.linalg_cholesky(F.flip(precision, (-2, -1))), (-2, -1))
    eye = F.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return F.linalg_solve_triangular(upper.mT, eye.expand(precision.shape), upper=False)


#: For each parameter, how to compute the lower triangular factor of the covariance matrix.
FACTORS: dict[str, Callable[[Any], Any]] = {
    "covariance_matrix": F.linalg_cholesky, "precision_matrix": factor_of_inverse,
    "scale_tril": lambda factor: factor}


def log_diagonal(factor: Any) -> Any:
    """Return the sum of the logarithms of a matrix's diagonal elements."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class ByMatrix(Distribution):
    """A distribution that computes with the factor L, no matter which matrix was passed in.

    >>> from minigrad import tensor, zeros
    >>> from minigrad.distributions import MultivariateNormal
    >>> MultivariateNormal(zeros(2), tensor([[4.0, 2.0], [2.0, 2.0]])).scale_tril
    tensor([[2., 0.],
            [1., 1.]])
    """

    _unbroadcasted_scale_tril: Any
    _expanded = {"covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}

    def _take(self, batch: Any, **matrix: Any) -> Callable[[], None]:
        """Store a matrix, expanded to the batch, and return a function that factors it.

        Call that function only after the matrix has been validated.
        """
        ((name, given),) = matrix.items()
        vars(self)[name] = given.expand((*batch, -1, -1))

        def factored() -> None:
            self._unbroadcasted_scale_tril = FACTORS[name](given)

        return factored

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance matrix."""
        return self._of_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        return self._of_batch(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._of_batch(F.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _of_batch(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + matrix.shape[-2:])
