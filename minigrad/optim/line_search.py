"""Line search: find a step along a direction that satisfies the strong Wolfe conditions.

The loss must fall by a fraction of the decrease that its slope predicts, and the slope must
flatten.

Source: Nocedal and Wright, "Numerical optimization", algorithms 3.5 and 3.6, formula 3.59
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..tensor.tensor import Tensor

#: Wolfe's constants: the sufficient fractions of the predicted decrease and of the slope.
FALL, FLAT = 1e-4, 0.9
MOST_TRIES = 25


class Point(NamedTuple):
    """Loss and gradient after a step of size `t`, and the slope along the direction."""

    t: float
    loss: float
    grad: Tensor
    slope: float


def between(a: Point, b: Point, low: float, high: float) -> float:
    """Return the minimum of the cubic through two points, clamped to `low` and `high`."""
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    share = (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2)
    return min(max(b.t - (b.t - a.t) * share, low), high)


def strong_wolfe(at: Callable[[float], Point], start: Point, t: float, reach: float,
                 tolerance: float) -> tuple[Point, int]:
    """Return a point that meets the conditions, or else the best, and the number of tries.

    `at(t)` tries a step, starting with `t`; `reach` is how far a parameter moves for a step of one.
    """

    def too_high(point: Point) -> bool:
        return point.loss > start.loss + FALL * point.t * start.slope

    def flat(point: Point) -> bool:
        return abs(point.slope) <= -FLAT * start.slope

    last, new, tries = start, at(t), 1
    while True:  # until the best step is bracketed by two points
        if too_high(new) or (tries > 2 and new.loss >= last.loss):
            break
        if flat(new):
            return new, tries
        if new.slope >= 0:
            break
        t = between(last, new, new.t + 0.01 * (new.t - last.t), new.t * 10)
        last, new, tries = new, at(t), tries + 1
        if tries > MOST_TRIES:
            last = start
            break
    best, other = (last, new) if last.loss <= new.loss else (new, last)
    was_near = False
    while tries <= MOST_TRIES and abs(other.t - best.t) * reach >= tolerance:
        low, high = sorted((best.t, other.t))
        t, margin = between(best, other, low, high), 0.1 * (high - low)
        near = min(high - t, t - low) < margin
        if near and (was_near or t >= high or t <= low):  # without progress, move away from the end
            t = high - margin if abs(t - high) < abs(t - low) else low + margin
            near = False
        was_near = near
        new, tries = at(t), tries + 1
        if too_high(new) or new.loss >= best.loss:
            best, other = (best, new) if best.loss <= new.loss else (new, best)
        else:
            if flat(new):
                return new, tries
            other = best if new.slope * (other.t - best.t) >= 0 else other
            best = new
    return best, tries
