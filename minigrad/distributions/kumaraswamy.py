"""The Kumaraswamy distribution."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms_elementwise import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """The distribution on [0, 1] with the cumulative distribution function 1 - (1 - x**a)**b.

    a is `concentration1` and b is `concentration0`.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Kumaraswamy
    >>> share = Kumaraswamy(torch.tensor([1.0, 2.0]), 1.0)
    >>> share.mean, share.cdf(torch.tensor(0.5))
    (tensor([0.5000, 0.6667]), tensor([0.5000, 0.2500]))
    >>> _ = torch.manual_seed(0)
    >>> share.sample()
    tensor([0.5037, 0.4814])
    """

    arg_constraints: Any = {"concentration1": constraints.positive,
                            "concentration0": constraints.positive}
    support: Any = constraints.unit_interval
    has_rsample = True
    _expanded = {"concentration1": 0, "concentration0": 0}

    def __init__(self, concentration1: Any, concentration0: Any,
                 validate_args: bool | None = None) -> None:
        a, b = broadcast_all(concentration1, concentration0)
        self.concentration1, self.concentration0 = a, b
        base = Uniform(F.full_like(b, 0), F.full_like(b, 1), validate_args=validate_args)
        steps = [PowerTransform(b.reciprocal()), AffineTransform(1.0, -1.0),
                 PowerTransform(a.reciprocal())]
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, order: int) -> Any:
        """Return E[x**n] = b B(1 + n / a, b)."""
        a, b = self.concentration1, self.concentration0
        n = 1 + order / a
        return F.exp(b.log() + n.lgamma() + b.lgamma() - (n + b).lgamma())

    @property
    def mean(self) -> Tensor:
        """b B(1 + 1 / a, b)."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """((a - 1) / (a b - 1))**(1 / a) if a, b >= 1 and not both are 1; otherwise NaN."""
        a, b = self.concentration1, self.concentration0
        mode = F.exp((F.log(a - 1) - F.log(a * b - 1)) / a)
        return F.where((a < 1) | (b < 1), math.nan, mode)

    @property
    def variance(self) -> Tensor:
        """E[x**2] - E[x]**2."""
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Tensor:
        """Return 1 - 1 / b + (1 - 1 / a) H(b) - log(a b), where H(b) is a harmonic number."""
        a, b = self.concentration1, self.concentration0
        harmonic = F.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
