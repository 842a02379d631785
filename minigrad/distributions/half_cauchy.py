"""The absolute value of a Cauchy distribution around 0."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from .cauchy import Cauchy
from .half import Half

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """The distribution of |x|, with x from Cauchy(0, scale).

    >>> import minigrad as torch
    >>> from minigrad.distributions import HalfCauchy
    >>> half = HalfCauchy(torch.tensor([1.0, 3.0]))
    >>> half.cdf(half.scale), half.mean
    (tensor([0.5000, 0.5000]), tensor([inf, inf]))
    >>> _ = torch.manual_seed(0)
    >>> half.sample()
    tensor([10.5977,  2.2943])
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return F.full(self._extended_shape(), math.inf, dtype=self.scale.dtype,
                      device=self.scale.device)

    @property
    def variance(self) -> Tensor:
        """Infinite, as for the Cauchy distribution."""
        return self.base_dist.variance
