"""The Laplace distribution."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..ops.info import finfo
from ..tensor.tensor import Tensor
from .location_scale import LocationScale

__all__ = ["Laplace"]


class Laplace(LocationScale):
    """The Laplace distribution: p(x) = exp(-|x - loc| / scale) / (2 scale).

    >>> import minigrad as torch
    >>> from minigrad.distributions import Laplace, kl_divergence
    >>> laplace = Laplace(0.0, torch.tensor([1.0, 2.0]))
    >>> laplace.log_prob(torch.tensor(1.0)).exp(), laplace.variance
    (tensor([0.1839, 0.1516]), tensor([2., 8.]))
    >>> kl_divergence(laplace, Laplace(1.0, 1.0))
    tensor([0.3679, 0.5199])
    >>> _ = torch.manual_seed(0)
    >>> laplace.sample()
    tensor([-0.0075,  1.5377])
    """

    @property
    def variance(self) -> Tensor:
        """2 scale squared."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        """sqrt(2) scale."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by inverting the cumulative distribution function, with u uniform on (-1, 1)."""
        shape = self._extended_shape(sample_shape)
        u = self.loc.new_empty(shape).uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * F.log1p(-u.abs())

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        return -F.log(2 * self.scale) - F.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Tensor:
        """Return (1 ± (1 - exp(-|value - loc| / scale))) / 2, + above `loc` and - below it."""
        if self._validate_args:
            self._validate_sample(value)
        off = value - self.loc
        return 0.5 - 0.5 * off.sign() * F.expm1(-off.abs() / self.scale)

    def icdf(self, value: Any) -> Tensor:
        """Return the x at which the cumulative distribution function is `value`."""
        off = value - 0.5
        return self.loc - self.scale * off.sign() * F.log1p(-2 * off.abs())

    def entropy(self) -> Tensor:
        """Return 1 + log(2 scale)."""
        return 1 + F.log(2 * self.scale)
