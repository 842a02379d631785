"""Distributions with one probability, passed as `probs` or as `logits`."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["ProbsOrLogits", "bernoulli_log_prob", "one_of"]


def one_of(probs: Any, logits: Any) -> tuple[str, Any]:
    """Return the name and value of the argument that is not `None`.

    Raises `ValueError` unless exactly one of them is `None`.

    >>> one_of(0.5, None)
    ('probs', 0.5)
    """
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("logits", logits) if probs is None else ("probs", probs)


def bernoulli_log_prob(logits: Any, value: Any) -> Any:
    """Return value * log(p) + (1 - value) * log(1 - p), where `logits` are the log-odds of p."""
    return -((1 - value) * logits - F.logsigmoid(logits))


class ProbsOrLogits(Distribution):
    """A distribution with a probability, passed as `probs` or as log-odds `logits`."""

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    _expanded = {"probs": 0, "logits": 0, "_param": 0}
    _param: Any

    def _begin_from_probs_or_logits(self, probs: Any, logits: Any, validate_args: bool | None,
                         **more: Any) -> None:
        """Broadcast `probs` or `logits` with further parameters, and set them."""
        name, given = one_of(probs, logits)
        *others, value = broadcast_all(*more.values(), given)
        vars(self).update({**dict(zip(more, others)), name: value, "_param": value})
        Distribution.__init__(self, value.shape, validate_args=validate_args)

    @lazy_property
    def logits(self) -> Any:
        """The log-odds log(p / (1 - p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)
