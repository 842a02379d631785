"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """The Poisson distribution: P(k) = rate**k exp(-rate) / k!.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Poisson, kl_divergence
    >>> calls = Poisson(torch.tensor([0.5, 4.0]))
    >>> calls.mean, calls.log_prob(torch.tensor(0.0)).exp()
    (tensor([0.5000, 4.0000]), tensor([0.6065, 0.0183]))
    >>> kl_divergence(calls, Poisson(1.0))
    tensor([0.1534, 2.5452])
    >>> _ = torch.manual_seed(0)
    >>> calls.sample((2,))
    tensor([[2., 5.],
            [0., 3.]])
    """

    arg_constraints: Any = {"rate": constraints.nonnegative}
    support: Any = constraints.nonnegative_integer
    _expanded = {"rate": 0}
    rate: Any

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        """`rate`."""
        return self.rate

    @property
    def mode(self) -> Tensor:
        """The rate rounded down."""
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        """`rate`."""
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples with `torch.poisson`."""
        with no_grad():
            return F.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        """Return k log(rate) - rate - log(k!)."""
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return F.xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (F.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:
        return F.exp(x)
