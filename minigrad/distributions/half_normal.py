"""The absolute value of a normal distribution with mean 0."""

from __future__ import annotations

import math
from typing import Any

from ..tensor.tensor import Tensor
from .half import Half
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    """The distribution of |x|, with x from Normal(0, scale).

    >>> import minigrad as torch
    >>> from minigrad.distributions import HalfNormal
    >>> half = HalfNormal(torch.tensor([1.0, 3.0]))
    >>> half.scale, half.mean
    (tensor([1., 3.]), tensor([0.7979, 2.3937]))
    >>> _ = torch.manual_seed(0)
    >>> half.sample()
    tensor([1.5410, 0.8803])
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        """scale * sqrt(2 / pi)."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """scale**2 (1 - 2 / pi)."""
        return self.scale.pow(2) * (1 - 2 / math.pi)
