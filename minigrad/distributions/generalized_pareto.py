"""The generalized Pareto distribution, which models excesses over a high threshold."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The distribution with P(X > x) = (1 + c z)**(-1 / c), where z = (x - loc) / scale >= 0.

    Here c is `concentration`.  For c = 0 the probability is exp(-z), for c < 0 the support is
    bounded, and for c > 0 the tail is heavy.  Unlike PyTorch's, gradients with respect to c are
    correct at 0 and -1 too.

    >>> import minigrad as torch
    >>> from minigrad.distributions import GeneralizedPareto
    >>> tail = GeneralizedPareto(0.0, 2.0, torch.tensor([-1.0, 0.0, 0.25]))
    >>> tail.mean, tail.support.upper_bound
    (tensor([1.0000, 2.0000, 2.6667]), tensor([2., inf, inf]))
    >>> tail.log_survival_function(torch.tensor(1.0)).exp()
    tensor([0.5000, 0.6065, 0.6243])
    >>> _ = torch.manual_seed(0)
    >>> tail.sample()
    tensor([0.9925, 2.9239, 0.1874])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive,
                            "concentration": constraints.real}
    has_rsample = True
    _expanded = {"loc": 0, "scale": 0, "concentration": 0}
    loc: Any
    scale: Any
    concentration: Any

    def __init__(self, loc: Any, scale: Any, concentration: Any,
                 validate_args: bool | None = None) -> None:
        self._begin(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Numbers >= `loc`; for c < 0 also <= loc - scale / c."""
        c = self.concentration
        return constraints.interval(
            self.loc, F.where(c < 0, self.loc - self.scale / c, math.inf))

    @property
    def mean(self) -> Tensor:
        """loc + scale / (1 - c), NaN for c >= 1."""
        known = self.concentration < 1
        c = F.where(known, self.concentration, 0.5)
        return F.where(known, self.loc + self.scale / (1 - c), math.nan)

    @property
    def mode(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """scale**2 / ((1 - c)**2 (1 - 2 c)), NaN for c >= 1 / 2."""
        known = self.concentration < 0.5
        c = F.where(known, self.concentration, 0.25)
        return F.where(known, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by inverting the cumulative distribution function."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(F.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Any) -> Tensor:
        """Return -log(scale) - (1 + 1 / c) log(1 + c z), or -log(scale) - z for c = 0."""
        if self._validate_args:
            self._validate_sample(value)
        z, c = self._z(value), self.concentration
        none, safe = self._parted()
        fall = F.special_xlog1py(1 + safe, safe * z) / safe
        return -self.scale.log() - F.where(none, (1 + c) * self._near_zero(z, -1 / 2, 1 / 3), fall)

    def log_survival_function(self, value: Any) -> Any:
        """Return -log(1 + c z) / c, the log probability that a sample exceeds `value`."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        none, safe = self._parted()
        return -F.where(none, self._near_zero(z, -1 / 2, 1 / 3), F.log1p(safe * z) / safe)

    def log_cdf(self, value: Any) -> Any:
        """Return the log probability that a sample is at most `value`.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import GeneralizedPareto
        >>> GeneralizedPareto(0.0, 2.0, -1.0).log_cdf(tensor(1.0)).exp()
        tensor(0.5000)
        """
        return F.log1p(-F.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Tensor:
        """Return 1 - (1 + c z)**(-1 / c)."""
        return F.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Tensor:
        """Return loc + scale ((1 - value)**-c - 1) / c; for c = 0 loc - scale log(1 - value)."""
        none, safe = self._parted()
        log = -F.log1p(-value)
        return self.loc + self.scale * F.where(
            none, self._near_zero(log, 1 / 2, 1 / 6), F.expm1(safe * log) / safe)

    def entropy(self) -> Tensor:
        """Return log(scale) + c + 1."""
        return self.scale.log() + self.concentration + 1

    def _z(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    def _parted(self) -> tuple[Any, Any]:
        """Return where c is 0, and c with 1 in those places, so that dividing by it is safe."""
        c = self.concentration
        none = F.isclose(c, F.zeros_like(c))
        return none, F.where(none, F.ones_like(c), c)

    def _near_zero(self, z: Any, a: float, b: float) -> Any:
        """Return z + a c z**2 + b c**2 z**3 where c is 0: the start of the series in c."""
        none, _ = self._parted()
        c, z = F.where(none, self.concentration, 0.0), F.where(none, z, 0.0)
        return z + a * c * z**2 + b * c**2 * z**3
