"""The short way of a backward pass, for `grad`: it needs no batching rules until one is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _state, on_demand
from ..engine import shortcuts

Gradient = Any

batching = on_demand.later("batching")


def swept(edges: Sequence[Any], grads: Sequence[Gradient], inputs: Sequence[Any],
          retain_graph: bool, create_graph: bool, batches: bool) -> list[Gradient | None] | None:
    """Run a pass the short way; None where it takes the engine."""
    if shortcuts.gradients_at is None:
        return None
    batches = batches or _state.randomness.get() != ""  # which vmap sets
    try:
        return shortcuts.gradients_at(edges, grads, inputs, retain_graph, create_graph, batches)
    except batching.NotBatchable:
        return None
