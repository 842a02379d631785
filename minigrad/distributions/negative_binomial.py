"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .gamma import Gamma
from .probs_or_logits import ProbsOrLogits
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits):
    """The number of successes before r = `total_count` failures, with success probability p.

    P(k) = Gamma(r + k) / (k! Gamma(r)) (1 - p)**r p**k

    >>> import minigrad as torch
    >>> from minigrad.distributions import NegativeBinomial
    >>> successes = NegativeBinomial(3.0, torch.tensor([0.5, 0.75]))
    >>> successes.mean, successes.variance
    (tensor([3., 9.]), tensor([ 6., 36.]))
    >>> _ = torch.manual_seed(0)
    >>> successes.sample((2,))
    tensor([[6., 7.],
            [1., 4.]])
    """

    arg_constraints: Any = {"total_count": constraints.greater_than_eq(0),
                            "probs": constraints.half_open_interval(0.0, 1.0),
                            "logits": constraints.real}
    support: Any = constraints.nonnegative_integer
    _expanded = {"total_count": 0, **ProbsOrLogits._expanded}
    total_count: Any

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self._begin_from_probs_or_logits(probs, logits, validate_args, total_count=total_count)
        self.total_count = self.total_count.type_as(self._param)

    @property
    def mean(self) -> Tensor:
        """r p / (1 - p)."""
        return self.total_count * F.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        """(r - 1) p / (1 - p) rounded down, at least 0."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        """r p / (1 - p)**2."""
        return self.mean / F.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        return Gamma(self.total_count, F.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw Poisson rates from a gamma distribution, then Poisson samples."""
        with no_grad():
            return F.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Tensor:
        """Return the log probability."""
        if self._validate_args:
            self._validate_sample(value)
        r = self.total_count
        ways = F.lgamma(r + value) - F.lgamma(1 + value) - F.lgamma(r)
        ways = ways.masked_fill(r + value == 0, 0)
        return ways + r * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
