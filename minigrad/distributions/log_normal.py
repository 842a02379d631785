"""The distribution of a variable whose logarithm is normal."""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms_elementwise import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """The distribution of exp(x), with x from Normal(loc, scale).

    >>> import minigrad as torch
    >>> from minigrad.distributions import LogNormal
    >>> income = LogNormal(0.0, torch.tensor([0.5, 1.0]))
    >>> income.loc, income.scale
    (tensor([0., 0.]), tensor([0.5000, 1.0000]))
    >>> income.mode, income.mean
    (tensor([0.7788, 0.3679]), tensor([1.1331, 1.6487]))
    >>> _ = torch.manual_seed(0)
    >>> income.sample()
    tensor([2.1608, 0.7457])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(),
                         validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        """exp(loc + scale**2 / 2)."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        """exp(loc - scale**2)."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        """(exp(scale**2) - 1) exp(2 loc + scale**2)."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        """Return the entropy of the normal distribution plus `loc`."""
        return self.base_dist.entropy() + self.loc
