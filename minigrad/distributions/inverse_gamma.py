"""The distribution of the reciprocal of a gamma variable."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms_elementwise import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """The distribution of 1 / x, with x from Gamma(a, b): a = `concentration`, b = `rate`.

    >>> import minigrad as torch
    >>> from minigrad.distributions import InverseGamma
    >>> inverse = InverseGamma(torch.tensor([3.0, 5.0]), 2.0)
    >>> inverse.concentration, inverse.rate
    (tensor([3., 5.]), tensor([2., 2.]))
    >>> inverse.mean, inverse.mode
    (tensor([1.0000, 0.5000]), tensor([0.5000, 0.3333]))
    >>> _ = torch.manual_seed(0)
    >>> inverse.sample()
    tensor([0.3302, 0.4925])
    """

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(base.rate.new_tensor(-1.0)),
                         validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The parameter a of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate b of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        """b / (a - 1) for a > 1, else infinite."""
        mean = self.rate / (self.concentration - 1)
        return F.where(self.concentration > 1, mean, math.inf)

    @property
    def mode(self) -> Tensor:
        """b / (a + 1)."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """b**2 / ((a - 1)**2 (a - 2)) for a > 2, else infinite."""
        a = self.concentration
        variance = self.rate.square() / ((a - 1).square() * (a - 2))
        return F.where(a > 2, variance, math.inf)

    def entropy(self) -> Tensor:
        """Return a + log(b) + lgamma(a) - (1 + a) digamma(a)."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
