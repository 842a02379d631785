"""The Weibull distribution."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms_elementwise import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """The distribution of scale * x**(1 / concentration), with x from Exponential(1).

    >>> import minigrad as torch
    >>> from minigrad.distributions import Weibull
    >>> lifetime = Weibull(2.0, torch.tensor([1.0, 3.0]))
    >>> lifetime.mean, lifetime.mode
    (tensor([2.0000, 1.7860]), tensor([0.0000, 1.7472]))
    >>> _ = torch.manual_seed(0)
    >>> lifetime.sample()
    tensor([7.0167, 2.1431])
    """

    arg_constraints: Any = {"scale": constraints.positive, "concentration": constraints.positive}
    support: Any = constraints.positive
    _expanded = {"scale": 0, "concentration": 0, "concentration_reciprocal": 0}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(F.ones_like(self.scale), validate_args=validate_args)
        steps = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution with its batch expanded."""
        new = super().expand(batch_shape, _instance)
        new.transforms = [PowerTransform(new.concentration_reciprocal),
                          AffineTransform(0, new.scale)]
        return new

    def _moment(self, order: int) -> Any:
        return F.exp(F.lgamma(1 + order * self.concentration_reciprocal))

    @property
    def mean(self) -> Tensor:
        """scale * Gamma(1 + 1 / concentration)."""
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        """scale * (1 - 1 / concentration)**(1 / concentration)."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        """scale**2 (Gamma(1 + 2 / concentration) - Gamma(1 + 1 / concentration)**2)."""
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2))

    def entropy(self) -> Tensor:
        """Return euler (1 - 1 / concentration) + log(scale / concentration) + 1."""
        return (euler_constant * (1 - self.concentration_reciprocal)
                + F.log(self.scale * self.concentration_reciprocal) + 1)
