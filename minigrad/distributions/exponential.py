"""The exponential distribution."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """The exponential distribution: p(x) = rate * exp(-rate * x).

    >>> import minigrad as torch
    >>> from minigrad.distributions import Exponential
    >>> waiting = Exponential(torch.tensor([0.5, 2.0]))
    >>> waiting.mean, waiting.log_prob(torch.tensor(1.0)).exp()
    (tensor([2.0000, 0.5000]), tensor([0.3033, 0.2707]))
    >>> _ = torch.manual_seed(0)
    >>> waiting.sample((2,))
    tensor([[7.0167, 0.6152],
            [1.2301, 1.2676]])
    """

    arg_constraints: Any = {"rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = {"rate": 0}
    rate: Any

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        """0."""
        return F.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """1 / rate squared."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw from the distribution with rate 1 and divide by the rate."""
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Any) -> Tensor:
        """Return log(rate) - rate * value."""
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Tensor:
        """Return 1 - exp(-rate * value)."""
        if self._validate_args:
            self._validate_sample(value)
        return 1 - F.exp(-self.rate * value)

    def icdf(self, value: Any) -> Tensor:
        """Return -log(1 - value) / rate."""
        return -F.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        """Return 1 - log(rate)."""
        return 1 - F.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -F.log(-x)
