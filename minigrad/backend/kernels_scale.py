"""Kernels of a `GradScaler`: unscale gradients and update the scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .float_errors import ignoring_float_errors

Array = Any


def unscale(xp: Any, grads: Sequence[Array], scale: Array, found: Array) -> None:
    """Divide arrays in place; set `found` to one if an element is infinite or NaN.

    >>> grads, found = [numpy.array([4.0, numpy.inf])], numpy.zeros(())
    >>> unscale(numpy, grads, numpy.array(2.0), found); grads[0], found
    (array([ 2., inf]), array(1.))
    """
    factor = xp.divide(1.0, scale, dtype="float64").astype("float32")
    for grad in grads:
        if not xp.isfinite(grad).all():
            found[...] = 1
        grad *= factor


@ignoring_float_errors
def update_scale(xp: Any, scale: Array, tracker: Array, found: Array, growth: float,
                 backoff: float, interval: int) -> None:
    """Update a scale in place, and count the steps since it grew.

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
        if xp.isfinite(grown):  # keep the scale finite
            scale[...] = grown
        tracker[...] = 0
