"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily
from .probs_or_logits import ProbsOrLogits, bernoulli_log_prob
from .utils import broadcast_all, clamp_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Numbers x in [0, 1] with a density proportional to p**x (1 - p)**(1 - x).

    For p between the two `lims`, near 1/2, the formulas divide two small numbers, so Taylor series
    are used instead.

    Source: Loaiza-Ganem and Cunningham, 2019, https://arxiv.org/abs/1907.06845

    >>> import minigrad as torch
    >>> from minigrad.distributions import ContinuousBernoulli
    >>> grey = ContinuousBernoulli(torch.tensor([0.5, 0.9]))
    >>> grey.mean, grey.log_prob(torch.tensor(1.0)).exp()
    (tensor([0.5000, 0.6699]), tensor([1.0000, 2.4719]))
    >>> _ = torch.manual_seed(0)
    >>> grey.sample()
    tensor([0.4963, 0.8950])
    """

    support: Any = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _kept = ("_lims",)
    _lims: tuple[float, float]

    def __init__(self, probs: Any = None, logits: Any = None,
                 lims: tuple[float, float] = (0.499, 0.501),
                 validate_args: bool | None = None) -> None:
        self._lims = lims
        self._begin_from_probs_or_logits(probs, logits, validate_args)
        if probs is not None:
            self.probs = clamp_probs(self.probs)

    def _outside_unstable_region(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Any:
        return F.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _cont_bern_log_norm(self) -> Any:
        """Return log(2 atanh(1 - 2 p) / (1 - 2 p)), which normalizes the density."""
        cut = self._cut_probs()
        odds = F.log1p(-cut) - F.log(cut)  # 2 atanh(1 - 2 p)
        far = F.log(odds.abs()) - F.log((1 - 2 * cut).abs())
        square = (self.probs - 0.5).pow(2)
        near = math.log(2.0) + (4 / 3 + 104 / 45 * square) * square
        return F.where(self._outside_unstable_region(), far, near)

    @property
    def mean(self) -> Tensor:
        """p / (2 p - 1) + 1 / (2 atanh(1 - 2 p))."""
        cut, off = self._cut_probs(), self.probs - 0.5
        far = cut / (2 * cut - 1) + 1 / (F.log1p(-cut) - F.log(cut))
        near = 0.5 + (1 / 3 + 16 / 45 * off.pow(2)) * off
        return F.where(self._outside_unstable_region(), far, near)

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return F.sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        """p (p - 1) / (1 - 2 p)**2 + 1 / (2 atanh(1 - 2 p))**2."""
        cut, square = self._cut_probs(), (self.probs - 0.5).pow(2)
        far = (cut * (cut - 1) / (1 - 2 * cut).pow(2)
               + 1 / (F.log1p(-cut) - F.log(cut)).pow(2))
        near = 1 / 12 - (1 / 15 - 128 / 945 * square) * square
        return F.where(self._outside_unstable_region(), far, near)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by inverting the cumulative distribution function."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by inverting the cumulative distribution function."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(F.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        return bernoulli_log_prob(*broadcast_all(self.logits, value)) + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Tensor:
        """Return (p**x (1 - p)**(1 - x) + p - 1) / (2 p - 1), or `value` for p near 1/2."""
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        far = (cut.pow(value) * (1 - cut).pow(1 - value) + cut - 1) / (2 * cut - 1)
        inside = F.where(self._outside_unstable_region(), far, value)
        return F.where(value <= 0, 0.0, F.where(value >= 1, 1.0, inside))

    def icdf(self, value: Any) -> Tensor:
        """Return the x at which the cumulative distribution function is `value`."""
        cut = self._cut_probs()
        far = ((F.log1p(-cut + value * (2 * cut - 1)) - F.log1p(-cut))
               / (F.log(cut) - F.log1p(-cut)))
        return F.where(self._outside_unstable_region(), far, value)

    def entropy(self) -> Tensor:
        """Return the expected value of -log_prob."""
        rest = F.log1p(-self.probs)
        return (self.mean * (rest - F.log(self.probs)) - self._cont_bern_log_norm() - rest)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = F.where(far, x, (self._lims[0] - 0.5) * F.ones_like(x))
        exact = F.log(F.expm1(cut).abs()) - F.log(cut.abs())
        return F.where(far, exact, 0.5 * x + x.pow(2) / 24 - x.pow(4) / 2880)
