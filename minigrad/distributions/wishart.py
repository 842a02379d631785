"""The Wishart distribution, the distribution of scatter matrices of normal vectors."""

from __future__ import annotations

import math
from typing import Any

from ..frames import warn_user
from ..op.declaration import F
from ..ops.info import finfo
from ..shapes import broadcast
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor
from . import constraints
from .by_matrix import ByMatrix, log_diagonal
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .utils import standard_normal

__all__ = ["Wishart"]


class Wishart(ByMatrix, ExponentialFamily):
    """Positive definite matrices; for an integer `df`, the sum of v v^T over `df` normal vectors v.

    The vectors have mean 0 and a covariance matrix (..., n, n): pass `covariance_matrix`, its
    inverse `precision_matrix`, or its lower triangular Cholesky factor `scale_tril`.  Raises
    `ValueError` unless df > n - 1.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Wishart
    >>> squares = Wishart(4.0, torch.tensor([[1.0, 0.5], [0.5, 2.0]]))
    >>> squares.mean
    tensor([[4., 2.],
            [2., 8.]])
    >>> squares.log_prob(torch.eye(2))
    tensor(-5.2005)
    """

    support: Any = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = {"df": 0, "_unbroadcasted_scale_tril": 2, "_chi2": 1, **ByMatrix._expanded}

    @property
    def arg_constraints(self) -> Any:
        """The constraints on the parameters, by parameter name."""
        return {"covariance_matrix": constraints.positive_definite,
                "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
                 scale_tril: Any = None, validate_args: bool | None = None) -> None:
        given = {name: matrix for name, matrix in (
            ("covariance_matrix", covariance_matrix), ("precision_matrix", precision_matrix),
            ("scale_tril", scale_tril)) if matrix is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or "
                                 "scale_tril may be specified.")
        (matrix,) = given.values()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading "
                             "batch dimensions")
        batch, n = Size(matrix.shape[:-2]), matrix.shape[-1]
        if isinstance(df, Tensor):
            batch = Size(broadcast(batch, df.shape))
            self.df = df.expand(batch)
        else:
            self.df = F.tensor(df, dtype=matrix.dtype, device=matrix.device)
        if self.df.le(n - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        factored = self._take(batch, **given)
        if self.df.lt(n).any():
            warn_user("Low df values detected. Singular samples are highly likely to occur for "
                      "ndim - 1 < df < ndim.")
        super().__init__(batch, matrix.shape[-2:], validate_args=validate_args)
        factored()
        rows = F.arange(n, dtype=matrix.dtype, device=matrix.device)
        self._chi2 = Chi2(self.df.unsqueeze(-1) - rows.expand((*batch, n)))

    @property
    def _df(self) -> Any:
        """The degrees of freedom, with two more dimensions to broadcast against matrices."""
        return self.df.unsqueeze(-1).unsqueeze(-1)

    @property
    def mean(self) -> Tensor:
        """df times the covariance matrix."""
        return self._df * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """(df - n - 1) times the covariance matrix, or NaN where that factor is not positive."""
        factor = self._df - self.event_shape[-1] - 1
        return F.where(factor > 0, factor, math.nan) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """df (C_ij**2 + C_ii C_jj), where C is the covariance matrix."""
        diagonal = self.covariance_matrix.diagonal(dim1=-2, dim2=-1)
        return self._df * (self.covariance_matrix.pow(2)
                           + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Tensor:
        """Draw samples by the Bartlett decomposition.

        To return the same numbers as PyTorch, this follows its order of draws, in which the first
        check is inverted: positive definite samples are drawn again, and then once more up to
        `max_try_correction` times (10 by default) until all of these are positive definite.  Warns
        if a sample is still singular.
        """
        sample = self._bartlett(sample_shape)
        again = self._every(self.support.check(sample))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not again.any():
                break
            drawn = self._bartlett(again[again].shape)
            sample[again] = drawn
            again = again.masked_scatter(again, self._every(~self.support.check(drawn)))
        if not self.support.check(sample).all():
            warn_user("Singular sample detected.")
        return sample

    def _bartlett(self, sample_shape: Any) -> Any:
        """Return L A A^T L^T; A has normal numbers below a diagonal of chi-distributed ones."""
        n = self.event_shape[-1]
        roots = self._chi2.rsample(sample_shape).sqrt()
        noise = F.diag_embed(roots.clamp(min=finfo(roots.dtype).eps))
        rows, columns = F.tril_indices(n, n, -1)
        noise[..., rows, columns] = standard_normal(
            (*sample_shape, *self._batch_shape, n * (n - 1) // 2), noise)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def _every(self, found: Any) -> Any:
        """Return, for each sample of the whole batch, whether any of its elements is true."""
        dims = tuple(range(-len(self._batch_shape), 0))
        return found.amax(dims) if dims else found

    def log_prob(self, value: Any) -> Tensor:
        """Return (df - n - 1) / 2 log det x - trace(C^-1 x) / 2, minus the log normalizer."""
        if self._validate_args:
            self._validate_sample(value)
        n, factor = self.event_shape[-1], self._unbroadcasted_scale_tril
        trace = F.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (-self.df * (n * math.log(2) / 2 + log_diagonal(factor))
                - F.mvlgamma(self.df / 2, n)
                + (self.df - n - 1) / 2 * F.linalg_slogdet(value)[1] - trace / 2)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        n, half = self.event_shape[-1], self.df / 2
        steps = F.arange(n, dtype=half.dtype, device=half.device) / 2
        digammas = F.digamma(half.unsqueeze(-1) - steps).sum(-1)
        return ((n + 1) * (n * math.log(2) / 2 + log_diagonal(self._unbroadcasted_scale_tril))
                + F.mvlgamma(half, n) - (self.df - n - 1) / 2 * digammas + half * n)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self.event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        n = self.event_shape[-1]
        half = y + (n + 1) / 2
        return half * (n * math.log(2) - F.linalg_slogdet(-2 * x)[1]) + F.mvlgamma(half, n)
