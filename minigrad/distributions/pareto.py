"""The Pareto distribution."""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms_elementwise import AffineTransform, ExpTransform
from .utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """The Pareto distribution: p(x) = alpha scale**alpha / x**(alpha + 1) for x >= scale.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Pareto
    >>> wealth = Pareto(1.0, torch.tensor([1.0, 3.0]))
    >>> wealth.mean, wealth.cdf(torch.tensor(2.0))
    (tensor([   inf, 1.5000]), tensor([0.5000, 0.8750]))
    >>> _ = torch.manual_seed(0)
    >>> wealth.sample()
    tensor([33.3923,  1.5070])
    """

    arg_constraints: Any = {"alpha": constraints.positive, "scale": constraints.positive}
    _expanded = {"scale": 0, "alpha": 0}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(Exponential(self.alpha, validate_args=validate_args),
                         [ExpTransform(), AffineTransform(0, self.scale)],
                         validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Numbers >= `scale`."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        """alpha scale / (alpha - 1), or infinity for alpha <= 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        """`scale`."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """scale**2 alpha / ((alpha - 1)**2 (alpha - 2)), or infinity for alpha <= 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Tensor:
        """Return log(scale / alpha) + 1 + 1 / alpha."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
