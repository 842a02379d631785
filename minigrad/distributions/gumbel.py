"""The Gumbel distribution, which models the maximum of many samples."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..ops.info import finfo
from ..tensor.tensor import Tensor
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms_elementwise import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """loc - scale * log(-log(u)), with u uniform on (0, 1).

    >>> import minigrad as torch
    >>> from minigrad.distributions import Gumbel
    >>> largest = Gumbel(0.0, torch.tensor([1.0, 2.0]))
    >>> largest.mean, largest.mode
    (tensor([0.5772, 1.1544]), tensor([0., 0.]))
    >>> _ = torch.manual_seed(0)
    >>> largest.sample()
    tensor([0.3557, 2.6661])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True
    _expanded = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        low, high = F.full_like(self.loc, limits.tiny), F.full_like(self.loc, 1 - limits.eps)
        minus = AffineTransform(loc=0, scale=-F.ones_like(self.scale))
        steps = [ExpTransform().inv, minus, ExpTransform().inv,
                 AffineTransform(loc=self.loc, scale=-self.scale)]
        super().__init__(Uniform(low, high, validate_args=validate_args), steps,
                         validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """loc + scale times Euler's constant."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """scale * pi / sqrt(6)."""
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        """scale**2 pi**2 / 6."""
        return self.stddev.pow(2)

    def log_prob(self, value: Any) -> Tensor:
        """Return y - exp(y) - log(scale), where y = (loc - value) / scale."""
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def entropy(self) -> Tensor:
        """Return log(scale) + 1 + Euler's constant."""
        return self.scale.log() + (1 + euler_constant)
