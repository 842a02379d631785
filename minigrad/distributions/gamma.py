"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..ops.info import finfo
from ..tensor.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """The gamma distribution with shape a = `concentration` and `rate` b.

    p(x) = b**a x**(a - 1) exp(-b x) / Gamma(a)

    >>> import minigrad as torch
    >>> from minigrad.distributions import Gamma
    >>> gamma = Gamma(torch.tensor([0.5, 3.0]), 2.0)
    >>> gamma.mean, gamma.variance
    (tensor([0.2500, 1.5000]), tensor([0.1250, 0.7500]))
    >>> gamma.cdf(gamma.mean)
    tensor([0.6827, 0.5768])
    >>> _ = torch.manual_seed(0)
    >>> gamma.sample()
    tensor([3.9468e-04, 6.3642e-01])
    """

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = {"concentration": 0, "rate": 0}
    concentration: Any
    rate: Any

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        """a / b."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """(a - 1) / b, or 0 for a < 1."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """a / b**2."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw a sample of rate 1 and divide it by the rate.

        The gradient with respect to `concentration` is exact: `torch._standard_gamma` computes it
        by implicit reparametrization.
        """
        shape = self._extended_shape(sample_shape)
        drawn = F._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        drawn.detach().clamp_(min=finfo(drawn.dtype).tiny)  # not recorded by autograd
        return drawn

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        value = F.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (F.xlogy(self.concentration, self.rate) + F.xlogy(self.concentration - 1, value)
                - self.rate * value - F.lgamma(self.concentration))

    def cdf(self, value: Any) -> Tensor:
        """Return igamma(a, b * value), which is not differentiable with respect to a."""
        if self._validate_args:
            self._validate_sample(value)
        return F.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        """Return a - log(b) + lgamma(a) + (1 - a) digamma(a)."""
        a = self.concentration
        return a - F.log(self.rate) + F.lgamma(a) + (1 - a) * F.digamma(a)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return F.lgamma(x + 1) + (x + 1) * F.log(-y.reciprocal())
