"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..shapes import broadcast
from ..tensor.attributes import Size
from . import constraints
from .distribution import Distribution
from .utils import lazy_property, standard_normal

__all__ = ["MultivariateNormal"]


def squared_distance(factor: Any, x: Any) -> Any:
    """Return |L^-1 x|**2 of vectors x (..., n) and lower triangular matrices L (..., n, n)."""
    if factor.dim() == 2:  # all vectors together
        solved = F.linalg_solve_triangular(factor, x.reshape(-1, x.shape[-1]).T, upper=False)
        return solved.pow(2).sum(0).reshape(x.shape[:-1])
    return F.linalg_solve_triangular(factor, x.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def log_diagonal(factor: Any) -> Any:
    """Return the sum of the logarithms of a matrix's diagonal."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def times(factor: Any, x: Any) -> Any:
    """Multiply vectors (..., n) by matrices (..., m, n)."""
    return (factor @ x.unsqueeze(-1)).squeeze(-1)


def factor_of_inverse(precision: Any) -> Any:
    """Return the lower triangular L with L L^T = P^-1.

    P read from its end has a Cholesky factor; read back that is an upper triangular U with
    U U^T = P, so that L is the inverse of U^T.
    """
    upper = F.flip(F.linalg_cholesky(F.flip(precision, (-2, -1))), (-2, -1))
    eye = F.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return F.linalg_solve_triangular(upper.mT, eye.expand(precision.shape), upper=False)


class MultivariateNormal(Distribution):
    """Normal vectors (..., n) with mean `loc` and one of three matrices (..., n, n).

    These are the covariance matrix, its inverse, or its lower triangular factor `scale_tril`.

    >>> from minigrad import eye, zeros
    >>> MultivariateNormal(zeros(2), eye(2)).log_prob(zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky}
    support: Any = constraints.real_vector
    has_rsample = True
    _expanded = {"loc": 1, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}
    _kept = ("_unbroadcasted_scale_tril",)
    _unbroadcasted_scale_tril: Any

    def __init__(self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
                 scale_tril: Any = None, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {name: matrix for name, matrix in (
            ("covariance_matrix", covariance_matrix), ("precision_matrix", precision_matrix),
            ("scale_tril", scale_tril)) if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril "
                             "may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            what = name + " matrix" * (name == "scale_tril")
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading "
                             "batch dimensions")
        batch = Size(broadcast(matrix.shape[:-2], loc.shape[:-1]))
        vars(self)[name] = matrix.expand((*batch, -1, -1))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        factor = {"scale_tril": lambda m: m, "covariance_matrix": F.linalg_cholesky,
                  "precision_matrix": factor_of_inverse}
        self._unbroadcasted_scale_tril = factor[name](matrix)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor."""
        return self._of_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariances."""
        factor = self._unbroadcasted_scale_tril
        return self._of_batch(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance matrix."""
        return self._of_batch(F.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _of_batch(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self) -> Any:
        """`loc`."""
        return self.loc

    @property
    def mode(self) -> Any:
        """`loc`."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance matrix."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._extended_shape())

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw loc + L z."""
        normal = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + times(self._unbroadcasted_scale_tril, normal)

    def log_prob(self, value: Any) -> Any:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        distance = squared_distance(self._unbroadcasted_scale_tril, value - self.loc)
        n = self.event_shape[0]
        return (-0.5 * (n * math.log(2 * math.pi) + distance)
                - log_diagonal(self._unbroadcasted_scale_tril))

    def entropy(self) -> Any:
        """Return n (1 + log(2 pi)) / 2 plus half the log determinant."""
        n = self.event_shape[0]
        entropy = 0.5 * n * (1 + math.log(2 * math.pi)) + log_diagonal(
            self._unbroadcasted_scale_tril)
        return entropy.expand(self._batch_shape)
