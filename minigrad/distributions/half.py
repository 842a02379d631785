"""The absolute value of a variable that is symmetric around 0."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms_elementwise import AbsTransform

__all__ = ["Half"]


class Half(TransformedDistribution):
    """The distribution of |x|, with x from a symmetric distribution that has a `scale`.

    >>> from minigrad.distributions import Normal
    >>> Half(Normal(0.0, 1.0)).mode
    tensor(0.)
    """

    arg_constraints: Any = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True

    def __init__(self, base: Any, validate_args: bool | None = None) -> None:
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """The scale of the base distribution."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        """0."""
        return F.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Tensor:
        """Return log(2) plus the base's log density, or -inf below 0."""
        if self._validate_args:
            self._validate_sample(value)
        return F.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Tensor:
        """Return 2 F(value) - 1, with F of the base distribution."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Tensor:
        """Return the base's `icdf` at (1 + value) / 2."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        """Return the entropy of the base minus log(2)."""
        return self.base_dist.entropy() - math.log(2)
