"""What a `GradScaler` does to gradients and to its scale, on bare arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Array = Any


def unscale(xp: Any, grads: Sequence[Array], scale: Array, found: Array) -> None:
    """Divide arrays, in place; `found` becomes one where there was an infinity or NaN.

    >>> grads, found = [numpy.array([4.0, numpy.inf])], numpy.zeros(())
    >>> unscale(numpy, grads, numpy.array(2.0), found); grads[0], found
    (array([ 2., inf]), array(1.))
    """
    factor = xp.divide(1.0, scale, dtype="float64").astype("float32")
    for grad in grads:
        if not xp.isfinite(grad).all():
            found[...] = 1
        grad *= factor


def update_scale(xp: Any, scale: Array, tracker: Array, found: Array, growth: float,
                 backoff: float, interval: int) -> None:
    """Let a scale grow or shrink, in place, and count the steps since it did.

    >>> scale, tracker = numpy.array(4.0), numpy.array(0)
    >>> update_scale(numpy, scale, tracker, numpy.array(0.0), 2.0, 0.5, 1); scale
    array(8.)
    >>> update_scale(numpy, scale, tracker, numpy.array(1.0), 2.0, 0.5, 1); scale
    array(4.)
    """
    tracker += 1
    if found != 0:
        scale[...] = scale.astype("float64") * backoff
        tracker[...] = 0
    elif tracker == interval:
        grown = (scale.astype("float64") * growth).astype(scale.dtype)
        if xp.isfinite(grown):  # it stays finite
            scale[...] = grown
        tracker[...] = 0
