"""The categorical distribution."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..ops.info import finfo
from ..tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .probs_or_logits import one_of
from .utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Categorical"]


class Categorical(Distribution):
    """The integers 0 to n - 1, with weights in the last dimension of `probs` (..., n).

    `probs` are normalized to sum to 1; `logits` are the logarithms of the weights.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Categorical
    >>> weather = Categorical(torch.tensor([1.0, 1.0, 2.0]))
    >>> weather.probs, weather.mode, weather.param_shape
    (tensor([0.2500, 0.2500, 0.5000]), tensor(2), torch.Size([3]))
    >>> weather.log_prob(torch.tensor(2)).exp(), weather.entropy()
    (tensor(0.5000), tensor(1.0397))
    >>> _ = torch.manual_seed(0)
    >>> weather.sample((6,))
    tensor([2, 2, 1, 2, 2, 2])
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _expanded = {"probs": 1, "logits": 1, "_param": 1}

    def __init__(self, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        name, given = one_of(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        self._param: Any = (given / given.sum(-1, keepdim=True) if name == "probs"
                            else given - given.logsumexp(-1, keepdim=True))
        vars(self)[name] = self._param
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def _num_events(self) -> int:
        return int(self._param.shape[-1])

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The integers from 0 to n - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    def _no_number(self) -> Any:
        return F.full(self._extended_shape(), math.nan, dtype=self.probs.dtype,
                      device=self.probs.device)

    @property
    def mean(self) -> Tensor:
        """NaN, because categories are labels and not numbers."""
        return self._no_number()

    @property
    def mode(self) -> Tensor:
        """The most probable category."""
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        """NaN, as for the mean."""
        return self._no_number()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples with `torch.multinomial`, with replacement."""
        shape = self._extended_shape(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        with no_grad():
            drawn = F.multinomial(rows, math.prod(sample_shape), True)
            return drawn.T.reshape(shape)

    def log_prob(self, value: Any) -> Tensor:
        """Return the log probability of categories, given as integers of any dtype."""
        if self._validate_args:
            self._validate_sample(value)
        value, logits = F.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        """Return -sum p log(p)."""
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the integers from 0 to n - 1."""
        return self._enumerated(F.arange(self._num_events, device=self._param.device), expand)
