"""The continuous uniform distribution."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution

__all__ = ["Uniform"]


class Uniform(Distribution):
    """The uniform distribution on [low, high); raises `ValueError` unless low < high.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Uniform, kl_divergence
    >>> uniform = Uniform(0.0, torch.tensor([2.0, 4.0]))
    >>> uniform.mean, uniform.log_prob(torch.tensor(1.0)).exp()
    (tensor([1., 2.]), tensor([0.5000, 0.2500]))
    >>> kl_divergence(uniform, Uniform(0.0, 3.0))
    tensor([0.4055,    inf])
    >>> _ = torch.manual_seed(0)
    >>> uniform.sample()
    tensor([0.9925, 3.0729])
    """

    has_rsample = True
    _expanded = {"low": 0, "high": 0}
    low: Any
    high: Any

    @property
    def arg_constraints(self) -> Any:
        """`low` must be less than `high`."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, low=low, high=high)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval from `low` to `high`."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        """(low + high) / 2."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        """NaN, because all values are equally probable."""
        return F.full_like(self.low, float("nan"))

    @property
    def stddev(self) -> Tensor:
        """(high - low) / sqrt(12)."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        """(high - low)**2 / 12."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw low + (high - low) * u, with u uniform on [0, 1)."""
        shape = self._extended_shape(sample_shape)
        unit = F.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + unit * (self.high - self.low)

    def log_prob(self, value: Any) -> Tensor:
        """Return -log(high - low), or -inf outside [low, high)."""
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low.le(value) & self.high.gt(value)).type_as(self.low)
        return F.log(inside) - F.log(self.high - self.low)

    def cdf(self, value: Any) -> Tensor:
        """Return (value - low) / (high - low), clamped to [0, 1]."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Tensor:
        """Return low + (high - low) * value."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """Return log(high - low)."""
        return F.log(self.high - self.low)
