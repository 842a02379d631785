"""Normal vectors mapped to the simplex."""

from __future__ import annotations

from typing import Any

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms_vector import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Normal vectors (..., n), mapped to the simplex in n + 1 dimensions by stick-breaking.

    >>> import minigrad as torch
    >>> from minigrad.distributions import LogisticNormal
    >>> shares = LogisticNormal(torch.zeros(2), torch.ones(2))
    >>> shares.loc, shares.scale, shares.event_shape
    (tensor([0., 0.]), tensor([1., 1.]), torch.Size([3]))
    >>> _ = torch.manual_seed(0)
    >>> shares.sample()
    tensor([0.7001, 0.1281, 0.1718])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the normal vectors."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the normal vectors."""
        return self.base_dist.base_dist.scale
