"""Continuous relaxations of discrete distributions: lower temperatures are closer to discrete."""

from __future__ import annotations

from typing import Any

from .transformed_distribution import TransformedDistribution

__all__ = ["Relaxed"]


class Relaxed(TransformedDistribution):
    """A transformed distribution with a temperature and with `probs` or `logits`."""

    has_rsample = True

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logits of the discrete distribution."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities of the discrete distribution."""
        return self.base_dist.probs
