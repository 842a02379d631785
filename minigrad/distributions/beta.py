"""The beta distribution."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """The beta distribution on [0, 1], with a = `concentration1` and b = `concentration0`.

    p(x) = Gamma(a + b) / (Gamma(a) Gamma(b)) x**(a - 1) (1 - x)**(b - 1)

    >>> import minigrad as torch
    >>> from minigrad.distributions import Beta
    >>> share = Beta(2.0, torch.tensor([2.0, 6.0]))
    >>> share.mean, share.mode
    (tensor([0.5000, 0.2500]), tensor([0.5000, 0.1667]))
    >>> share.concentration1, share.concentration0
    (tensor([2., 2.]), tensor([2., 6.]))
    >>> _ = torch.manual_seed(0)
    >>> share.sample()
    tensor([0.7758, 0.1743])
    """

    arg_constraints: Any = {"concentration1": constraints.positive,
                            "concentration0": constraints.positive}
    support: Any = constraints.unit_interval
    has_rsample = True
    _expanded = {"_dirichlet": 0}

    def __init__(self, concentration1: Any, concentration0: Any,
                 validate_args: bool | None = None) -> None:
        pair = F.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(pair, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Any:
        """a."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """b."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        """a / (a + b)."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """(a - 1) / (a + b - 2); if both are < 1, then 1 if a >= b, else 0."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """a b / ((a + b)**2 (a + b + 1))."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw the first coordinate of a two-dimensional Dirichlet sample."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(F.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return F.lgamma(x) + F.lgamma(y) - F.lgamma(x + y)
