"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..shapes import broadcast
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor
from . import constraints
from .by_matrix import ByMatrix, log_diagonal
from .utils import standard_normal

__all__ = ["MultivariateNormal"]


def squared_distance(factor: Any, x: Any) -> Any:
    """Return |L^-1 x|**2 for vectors x (..., n) and lower triangular matrices L (..., n, n)."""
    if factor.dim() == 2:  # solve for all vectors at once
        solved = F.linalg_solve_triangular(factor, x.reshape(-1, x.shape[-1]).T, upper=False)
        return solved.pow(2).sum(0).reshape(x.shape[:-1])
    return F.linalg_solve_triangular(factor, x.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def times(factor: Any, x: Any) -> Any:
    """Multiply vectors (..., n) by matrices (..., m, n)."""
    return (factor @ x.unsqueeze(-1)).squeeze(-1)


class MultivariateNormal(ByMatrix):
    """Normal vectors (..., n) with mean `loc` and a matrix (..., n, n).

    Pass exactly one of `covariance_matrix`, its inverse `precision_matrix`, or its lower triangular
    Cholesky factor `scale_tril`.

    >>> import minigrad as torch
    >>> from minigrad.distributions import MultivariateNormal, kl_divergence
    >>> normal = MultivariateNormal(torch.zeros(2), torch.tensor([[4.0, 2.0], [2.0, 2.0]]))
    >>> normal.scale_tril
    tensor([[2., 0.],
            [1., 1.]])
    >>> normal.log_prob(torch.zeros(2)), normal.variance
    (tensor(-2.5310), tensor([4., 2.]))
    >>> kl_divergence(normal, MultivariateNormal(torch.zeros(2), torch.eye(2)))
    tensor(1.3069)
    >>> _ = torch.manual_seed(0)
    >>> normal.sample()
    tensor([3.0820, 1.2476])
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky}
    support: Any = constraints.real_vector
    has_rsample = True
    _expanded = {"loc": 1, **ByMatrix._expanded}
    _kept = ("_unbroadcasted_scale_tril",)

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
        factored = self._take(batch, **given)
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        factored()

    @property
    def mean(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance matrix."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._extended_shape())

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw loc + L z, with standard normal z."""
        normal = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + times(self._unbroadcasted_scale_tril, normal)

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        distance = squared_distance(self._unbroadcasted_scale_tril, value - self.loc)
        n = self.event_shape[0]
        return (-0.5 * (n * math.log(2 * math.pi) + distance)
                - log_diagonal(self._unbroadcasted_scale_tril))

    def entropy(self) -> Tensor:
        """Return n (1 + log(2 pi)) / 2 plus half the log determinant."""
        n = self.event_shape[0]
        entropy = 0.5 * n * (1 + math.log(2 * math.pi)) + log_diagonal(
            self._unbroadcasted_scale_tril)
        return entropy.expand(self._batch_shape)
