"""The geometric distribution."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..ops.info import finfo
from ..tensor.tensor import Tensor
from . import constraints
from .probs_or_logits import ProbsOrLogits, bernoulli_log_prob
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(ProbsOrLogits):
    """The number of failures before the first success: p (1 - p)**k for k = 0, 1, ...

    >>> import minigrad as torch
    >>> from minigrad.distributions import Geometric
    >>> failures = Geometric(torch.tensor([0.5, 0.1]))
    >>> failures.mean, failures.log_prob(torch.tensor(2.0)).exp()
    (tensor([1., 9.]), tensor([0.1250, 0.0810]))
    >>> _ = torch.manual_seed(0)
    >>> failures.sample((3,))
    tensor([[ 1.,  2.],
            [ 3., 19.],
            [ 1.,  4.]])
    """

    support: Any = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self._begin_from_probs_or_logits(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape "
                f"{tuple(self.probs.shape)}) of distribution {self!r} to be positive but found "
                f"invalid values:\n{self.probs[self.probs <= 0]}")

    @property
    def mean(self) -> Tensor:
        """1 / p - 1."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        """0."""
        return F.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        """(1 / p - 1) / p."""
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by inverting the cumulative distribution function."""
        with no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape)).uniform_()
            u = u.clamp(min=finfo(u.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Tensor:
        """Return k log(1 - p) + log(p)."""
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        sure = (probs == 1) & (value == 0)  # otherwise 0 * -inf
        return value * (-probs.masked_fill(sure, 0)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        """Return the entropy of one trial, divided by p."""
        return -bernoulli_log_prob(self.logits, self.probs) / self.probs
