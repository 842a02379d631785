"""The absolute value of a Cauchy distribution around 0."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from . import constraints
from .cauchy import Cauchy
from .transformed_distribution import TransformedDistribution
from .transforms_elementwise import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """|x| of x from Cauchy(0, scale).

    >>> from minigrad import tensor
    >>> HalfCauchy(1.0).cdf(tensor(1.0))
    tensor(0.5000)
    """

    arg_constraints: Any = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(),
                         validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distribution with its batch expanded."""
        new = self._get_checked_instance(HalfCauchy, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def scale(self) -> Any:
        """The standard deviation of the Cauchy distribution."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """Infinite."""
        return F.full(self._extended_shape(), math.inf, dtype=self.scale.dtype,
                      device=self.scale.device)

    @property
    def mode(self) -> Any:
        """0."""
        return F.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        """The same as that of the Cauchy distribution: infinite."""
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        """Return the log density: twice the Cauchy one, and zero below 0."""
        if self._validate_args:
            self._validate_sample(value)
        return F.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        """Return twice the Cauchy share above the mean."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        """Return the number below which samples fall with probability `value`."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        """Return the Cauchy entropy less log(2)."""
        return self.base_dist.entropy() - math.log(2)
