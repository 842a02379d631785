"""Devices in a backward pass: a node works where its forward did, others beside their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..device import NO_PLACE, place_on
from ..graph.node import Node


@contextmanager
def at_place_of(node: Node, grads: Sequence[Any]) -> Iterator[None]:
    """Enter the device and stream for a node's work, where they are not the default ones."""
    extras = node.extras
    forward = NO_PLACE if extras is None or extras.place is None else extras.place.entered()
    with forward, NO_PLACE if node.is_op else place_beside(grads):
        yield


def place_beside(grads: Sequence[Any]) -> AbstractContextManager[Any]:
    """Return a context for work where gradients lie."""
    array = next((getattr(g, "_array", g) for g in grads if g is not None), None)
    return NO_PLACE if array is None else place_on(array)
