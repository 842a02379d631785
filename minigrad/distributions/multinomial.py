"""The multinomial distribution."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .binomial import Binomial
from .by_weights import ByWeights
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(ByWeights):
    """How often each of n categories occurs in `total_count` draws, by weights (..., n).

    >>> import minigrad as torch
    >>> from minigrad.distributions import Multinomial
    >>> counts = Multinomial(4, torch.tensor([1.0, 3.0]))
    >>> counts.mean, counts.probs, counts.logits
    (tensor([1., 3.]), tensor([0.2500, 0.7500]), tensor([-1.3863, -0.2877]))
    >>> counts.log_prob(torch.tensor([1.0, 3.0])).exp(), counts.param_shape
    (tensor(0.4219), torch.Size([2]))
    >>> _ = torch.manual_seed(0)
    >>> counts.sample((2,))
    tensor([[1., 3.],
            [0., 4.]])
    """

    _expanded = {"_categorical": 0, "_binomial": 1}
    _kept = ("total_count",)
    total_count: int

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._begin_by_weights(probs, logits, validate_args)
        self._binomial = Binomial(total_count, self.probs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Vectors of counts that sum to at most `total_count`."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        """total_count times p."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """total_count times p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw with `torch.multinomial` and count the categories."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            drawn = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
            counts = F.zeros(shape, dtype=self.probs.dtype, device=self.probs.device)
            return counts.scatter_add_(-1, drawn, F.ones(drawn.shape, dtype=counts.dtype,
                                                         device=counts.device))

    def log_prob(self, value: Any) -> Tensor:
        """Return the log probability."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)  # otherwise 0 * -inf
        ways = F.lgamma(value.sum(-1) + 1) - F.lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropy of `total_count` draws, minus the information in their order."""
        n = self.total_count
        counts = self._binomial.enumerate_support(expand=False)[1:]
        chances = F.exp(self._binomial.log_prob(counts))
        return (n * self._categorical.entropy() - math.lgamma(n + 1)
                + (chances * F.lgamma(counts + 1)).sum(0).sum(-1))
