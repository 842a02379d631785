"""Draws that come nearer to those of a discrete distribution the lower a temperature is."""

from __future__ import annotations

from typing import Any

from .transformed_distribution import TransformedDistribution

__all__ = ["Relaxed"]


class Relaxed(TransformedDistribution):
    """A transformed distribution by a temperature, and by `probs` or `logits`."""

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
