"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from .location_scale import LocationScale

__all__ = ["Cauchy"]


class Cauchy(LocationScale):
    """The Cauchy distribution: p(x) = 1 / (pi scale (1 + ((x - loc) / scale)**2)).

    Its tails are so heavy that it has no mean.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Cauchy
    >>> cauchy = Cauchy(1.0, torch.tensor([1.0, 3.0]))
    >>> cauchy.mean, cauchy.mode
    (tensor([nan, nan]), tensor([1., 1.]))
    >>> cauchy.icdf(torch.tensor(0.75)), cauchy.cdf(torch.tensor(2.0))
    (tensor([2., 4.]), tensor([0.7500, 0.6024]))
    >>> _ = torch.manual_seed(0)
    >>> cauchy.sample()
    tensor([11.5977,  3.2943])
    """

    @property
    def mean(self) -> Tensor:
        """NaN, because the mean is undefined."""
        return F.full(self._extended_shape(), math.nan, dtype=self.loc.dtype,
                      device=self.loc.device)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return F.full(self._extended_shape(), math.inf, dtype=self.loc.dtype,
                      device=self.loc.device)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw loc + scale * x, with x from the standard Cauchy distribution."""
        unit = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + unit * self.scale

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        return (-math.log(math.pi) - self.scale.log()
                - ((value - self.loc) / self.scale).pow(2).log1p())

    def cdf(self, value: Any) -> Tensor:
        """Return atan((value - loc) / scale) / pi + 1/2."""
        if self._validate_args:
            self._validate_sample(value)
        return F.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Tensor:
        """Return loc + scale * tan(pi (value - 1/2))."""
        return F.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        """Return log(4 pi scale)."""
        return math.log(4 * math.pi) + self.scale.log()
