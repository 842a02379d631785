"""The binomial distribution."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .probs_or_logits import ProbsOrLogits

__all__ = ["Binomial"]


class Binomial(ProbsOrLogits):
    """The number of successes in n = `total_count` trials, each with probability p.

    P(k) = n! / (k! (n - k)!) p**k (1 - p)**(n - k)

    >>> import minigrad as torch
    >>> from minigrad.distributions import Binomial
    >>> heads = Binomial(4, torch.tensor(0.5))
    >>> heads.log_prob(heads.enumerate_support()).exp()
    tensor([0.0625, 0.2500, 0.3750, 0.2500, 0.0625])
    >>> heads.mean, heads.variance
    (tensor(2.), tensor(1.))
    >>> _ = torch.manual_seed(0)
    >>> heads.sample((6,))
    tensor([3., 2., 2., 1., 2., 2.])
    """

    arg_constraints: Any = {"total_count": constraints.nonnegative_integer,
                            **ProbsOrLogits.arg_constraints}
    has_enumerate_support = True
    _expanded = {"total_count": 0, **ProbsOrLogits._expanded}
    total_count: Any

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self._begin_from_probs_or_logits(probs, logits, validate_args, total_count=total_count)
        self.total_count = self.total_count.type_as(self._param)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The integers from 0 to n."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """n p."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """(n + 1) p rounded down, at most n."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples with `torch.binomial`."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return F.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Tensor:
        """Return the log probability."""
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        # (1 - p)^-n, over the ways to arrange all n: terms in PyTorch's order, for its last digits
        above = (F.clamp(logits, 0) + logits - F.clamp(logits, None, 0)) / 2  # slope 1/2 at 0
        scale = n * above + n * F.log1p(F.exp(-F.abs(logits))) - F.lgamma(n + 1)
        return value * logits - F.lgamma(value + 1) - F.lgamma(n - value + 1) - scale

    def _one_count(self, asked: str) -> int:
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asked}`.")
        return most

    def entropy(self) -> Tensor:
        """Return -sum P log(P).

        Raises `NotImplementedError` if the total counts differ within the batch.
        """
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the integers from 0 to n.

        Raises `NotImplementedError` if the total counts differ within the batch.
        """
        values = F.arange(1 + self._one_count("enumerate_support"), dtype=self._param.dtype,
                          device=self._param.device)
        return self._enumerated(values, expand)
