"""Exponential families: distributions with a density exp(t(x) θ - F(θ) + k(x)).

Source: https://en.wikipedia.org/wiki/Exponential_family
"""

from __future__ import annotations

from typing import Any

from ..autograd.backward import grad
from ..autograd.grad_mode import enable_grad
from ..tensor.tensor import Tensor
from .distribution import Distribution
from .utils import sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution with natural parameters θ and log normalizer F(θ).

    A subclass defines θ as `_natural_params`, F as `_log_normalizer`, and the expected value of
    k(x) as `_mean_carrier_measure`.  That is enough for the entropy, a Bregman divergence: F(θ) - θ
    F'(θ) - E[k(x)], where autograd computes F'.

    >>> from minigrad.distributions import Exponential, ExponentialFamily
    >>> ExponentialFamily.entropy(Exponential(1.0)).item()
    1.0
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy from the log normalizer and its derivative."""
        with enable_grad():
            given = [each if each.requires_grad else each.detach().requires_grad_()
                     for each in self._natural_params]
            normalizer = self._log_normalizer(*given)
            slopes = grad(normalizer.sum(), given, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for parameter, slope in zip(given, slopes):
            terms = parameter * slope
            result = result - sum_rightmost(terms, terms.dim() - len(self._batch_shape))
        return result
