"""Multivariate normal distributions with a covariance of low rank plus a diagonal."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..shapes import broadcast
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor
from . import constraints
from .by_matrix import log_diagonal
from .distribution import Distribution
from .multivariate_normal import squared_distance, times
from .utils import lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def capacitance_factor(factor: Any, diagonal: Any) -> Any:
    """Return the Cholesky factor of the (m, m) matrix I + W^T D^-1 W."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    eye = F.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return F.linalg_cholesky(scaled @ factor + eye)


def low_rank_log_determinant(diagonal: Any, capacitance: Any) -> Any:
    """Return log det(W W^T + D) = log det D + log det(I + W^T D^-1 W)."""
    return 2 * log_diagonal(capacitance) + diagonal.log().sum(-1)


def low_rank_distance(factor: Any, diagonal: Any, x: Any, capacitance: Any) -> Any:
    """Return x^T (W W^T + D)^-1 x, using the Woodbury identity."""
    inner = times(factor.mT, x / diagonal)
    return (x.pow(2) / diagonal).sum(-1) - squared_distance(capacitance, inner)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors (..., n) with covariance W W^T + D.

    W is `cov_factor` (..., n, m) and D has the diagonal `cov_diag` (..., n).  `log_prob` factors
    only an m by m matrix, so it is fast if m is much smaller than n.

    >>> import minigrad as torch
    >>> from minigrad.distributions import LowRankMultivariateNormal
    >>> low = LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.tensor([1.0, 3.0]))
    >>> low.covariance_matrix
    tensor([[2., 1.],
            [1., 4.]])
    >>> low.log_prob(torch.ones(2))
    tensor(-3.0965)
    >>> _ = torch.manual_seed(0)
    >>> low.sample()
    tensor([ 1.2476, -2.2328])
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1)}
    support: Any = constraints.real_vector
    has_rsample = True
    _expanded = {"loc": 1, "cov_diag": 1, "cov_factor": 2, "covariance_matrix": 2,
                 "scale_tril": 2, "precision_matrix": 2}
    _kept = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any,
                 validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading "
                             "batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        batch = Size(broadcast(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        self.loc, self.cov_diag = loc.expand(batch + event), cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = capacitance_factor(cov_factor, cov_diag)
        super().__init__(batch, event, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """`loc`."""
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of the covariance matrix."""
        square = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return square.expand(self._extended_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """W W^T + D."""
        factor = self._unbroadcasted_cov_factor
        return self._of_batch(factor @ factor.mT + F.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance matrix."""
        return F.linalg_cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """D^-1 - D^-1 W (I + W^T D^-1 W)^-1 W^T D^-1, the inverse of the covariance matrix."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        root = F.linalg_solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._of_batch(F.diag_embed(diagonal.reciprocal()) - root.mT @ root)

    def _of_batch(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw loc + W z + sqrt(D) z', with m standard normal numbers z and n in z'."""
        shape = self._extended_shape(sample_shape)
        inner = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        outer = standard_normal(shape, self.loc)
        return (self.loc + times(self._unbroadcasted_cov_factor, inner)
                + self._unbroadcasted_cov_diag.sqrt() * outer)

    def _log_determinant(self) -> Any:
        return low_rank_log_determinant(self._unbroadcasted_cov_diag, self._capacitance_tril)

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        distance = low_rank_distance(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag,
                                     value - self.loc, self._capacitance_tril)
        constant = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_determinant() + distance)

    def entropy(self) -> Tensor:
        """Return n (1 + log(2 pi)) / 2 plus half the log determinant."""
        constant = self.event_shape[0] * (1 + math.log(2 * math.pi))
        return (0.5 * (constant + self._log_determinant())).expand(self._batch_shape)
