"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..tensor.tensor import Tensor
from .exp_family import ExponentialFamily
from .location_scale import LocationScale
from .utils import standard_normal

__all__ = ["Normal"]


class Normal(LocationScale, ExponentialFamily):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    log p(x) = -((x - loc) / scale)**2 / 2 - log(scale) - log(2 pi) / 2

    >>> import minigrad as torch
    >>> from minigrad.distributions import Normal, kl_divergence
    >>> normal = Normal(0.0, torch.tensor([1.0, 2.0]))
    >>> normal.log_prob(torch.tensor(0.0)), normal.cdf(torch.tensor(2.0))
    (tensor([-0.9189, -1.6121]), tensor([0.9772, 0.8413]))
    >>> kl_divergence(normal, Normal(1.0, 1.0))
    tensor([0.5000, 1.3069])
    >>> _ = torch.manual_seed(0)
    >>> normal.sample()
    tensor([ 1.5410, -0.5869])
    """

    _mean_carrier_measure = 0

    @property
    def stddev(self) -> Tensor:
        """`scale`."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """`scale` squared."""
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples with `torch.normal`."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return F.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw loc + scale * z, with standard normal z."""
        return self.loc + standard_normal(self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        distance = (value - self.loc) ** 2 / (2 * self.scale**2)
        return -distance - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Tensor:
        """Return (1 + erf(z / sqrt(2))) / 2, where z = (value - loc) / scale."""
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + F.erf((value - self.loc) / self.scale / math.sqrt(2)))

    def icdf(self, value: Any) -> Tensor:
        """Return loc + scale * sqrt(2) erfinv(2 value - 1)."""
        return self.loc + self.scale * F.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        """Return (1 + log(2 pi)) / 2 + log(scale)."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + F.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x.pow(2) / y + 0.5 * F.log(-math.pi / y)
