"""The Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily
from .probs_or_logits import ProbsOrLogits, bernoulli_log_prob
from .utils import broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """The value 1 with probability `probs`, else 0; `logits` are the log-odds.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Bernoulli
    >>> coins = Bernoulli(torch.tensor([0.25, 0.9]))
    >>> coins.log_prob(torch.tensor([1.0, 0.0])).exp()
    tensor([0.2500, 0.1000])
    >>> coins.variance, coins.logits, coins.param_shape
    (tensor([0.1875, 0.0900]), tensor([-1.0986,  2.1972]), torch.Size([2]))
    >>> _ = torch.manual_seed(0)
    >>> coins.sample((3,))
    tensor([[0., 1.],
            [1., 1.],
            [0., 1.]])
    """

    support: Any = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self._begin_from_probs_or_logits(probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        """p."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The more probable of the two values, or NaN if both are equally probable."""
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples with `torch.bernoulli`."""
        with no_grad():
            return F.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        """Return log(p) for 1 and log(1 - p) for 0."""
        if self._validate_args:
            self._validate_sample(value)
        return bernoulli_log_prob(*broadcast_all(self.logits, value))

    def entropy(self) -> Tensor:
        """Return -p log(p) - (1 - p) log(1 - p)."""
        return -bernoulli_log_prob(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the two values 0 and 1."""
        values = F.arange(2, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (F.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Any:
        return -F.logsigmoid(-x)
