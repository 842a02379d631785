"""Categorical distributions whose samples are one-hot vectors."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .by_weights import ByWeights

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(ByWeights):
    """One-hot vectors (..., n), with weights in the form `Categorical` takes.

    >>> import minigrad as torch
    >>> from minigrad.distributions import OneHotCategorical
    >>> weather = OneHotCategorical(torch.tensor([1.0, 1.0, 2.0]))
    >>> weather.mode, weather.log_prob(torch.tensor([0.0, 1.0, 0.0])).exp()
    (tensor([0., 0., 1.]), tensor(0.2500))
    >>> _ = torch.manual_seed(0)
    >>> weather.sample((2,))
    tensor([[0., 0., 1.],
            [0., 0., 1.]])
    """

    support: Any = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self._begin_by_weights(probs, logits, validate_args)

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def mean(self) -> Tensor:
        """The probabilities."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The one-hot vector of the most probable category."""
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        """p (1 - p), elementwise."""
        return self.probs * (1 - self.probs)

    def _one_hot(self, indices: Any) -> Any:
        """Return one-hot vectors in the dtype of the probabilities."""
        return self._all_vectors()[indices]

    def _all_vectors(self) -> Any:
        return F.eye(self.event_shape[0], dtype=self._param.dtype, device=self._param.device)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples with `torch.multinomial`."""
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Tensor:
        """Return the log probability."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        """Return -sum p log(p)."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all one-hot vectors."""
        n, batch = self.event_shape[0], self.batch_shape
        values = self._all_vectors().view((n,) + (1,) * len(batch) + (n,))
        return values.expand((n, *batch, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A `OneHotCategorical` whose samples have the straight-through gradient.

    In backward, a sample passes its gradient on to the probabilities unchanged.

    >>> import minigrad as torch
    >>> from minigrad.distributions import OneHotCategoricalStraightThrough
    >>> probs = torch.tensor([0.25, 0.75], requires_grad=True)
    >>> _ = torch.manual_seed(0)
    >>> drawn = OneHotCategoricalStraightThrough(probs).rsample()
    >>> (drawn * torch.tensor([1.0, 2.0])).sum().backward()
    >>> drawn.detach(), probs.grad
    (tensor([0., 1.]), tensor([-0.7500,  0.2500]))
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw a sample and add p - p.detach(), which is 0 but has p's gradient.

        Source: Bengio et al., 2013, https://arxiv.org/abs/1308.3432
        """
        probs = self._categorical.probs  # read once, so that both terms use the same tensor
        return self.sample(sample_shape) + (probs - probs.detach())
