"""Vector distributions whose weights are held by an inner `Categorical`."""

from __future__ import annotations

from typing import Any

from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["ByWeights"]


class ByWeights(Distribution):
    """A distribution of vectors (..., n) that takes weights in the form `Categorical` does."""

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _expanded = {"_categorical": 0}

    def _begin_by_weights(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        self._categorical = Categorical(probs, logits)
        Distribution.__init__(self, self._categorical.batch_shape,
                              self._categorical.param_shape[-1:], validate_args=validate_args)

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)
