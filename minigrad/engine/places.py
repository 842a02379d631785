"""Devices in a backward pass: an op's node runs where its forward ran, others with their inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..device import NO_PLACE, place_on
from ..graph.node import Node


@contextmanager
def at_place_of(node: Node, grads: Sequence[Any]) -> Iterator[None]:
    """Enter the device and stream on which a node runs, unless they are the default ones."""
    extras = node.extras
    forward = NO_PLACE if extras is None or extras.place is None else extras.place.entered()
    with forward, NO_PLACE if node.is_op else place_beside(grads):
        yield


def place_beside(grads: Sequence[Any]) -> AbstractContextManager[Any]:
    """Return a context for work on the device of the gradients."""
    array = next((getattr(g, "_array", g) for g in grads if g is not None), None)
    return NO_PLACE if array is None else place_on(array)
