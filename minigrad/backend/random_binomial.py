"""Binomial numbers from uniform numbers, equal to PyTorch's on the CPU.

If fewer than ten successes are expected, we draw the number of trials between them from the
geometric distribution. Otherwise we use transformed rejection (Hoermann, "The generation of
binomial random variates", 1993, algorithm BTRS).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Array = Any


def binomial_number(trials: float, chance: float, draw: Callable[[], float]) -> float:
    """Return how many of `trials` succeed; `draw` returns uniform numbers from [0, 1).

    >>> binomial_number(3.0, 0.5, iter([0.6, 0.6, 0.2]).__next__)
    2.0
    """
    if trials <= 0 or chance <= 0:
        return 0.0
    if chance >= 1:
        return trials
    if math.isnan(chance) or math.isnan(trials):
        return math.nan
    rarer = min(chance, 1 - chance)
    count = by_rejection if trials * rarer >= 10 else by_waiting
    hits = count(trials, rarer, draw)
    return hits if chance <= 0.5 else trials - hits


def by_waiting(trials: float, chance: float, draw: Callable[[], float]) -> float:
    """Count the successes whose waiting times fit into the trials."""
    slope, passed, hits = math.log1p(-chance), 0.0, 0.0
    while True:
        u = draw()
        passed += math.ceil(math.log(u) / slope) if u > 0 else math.inf
        if passed > trials:
            return hits
        hits += 1


def by_rejection(trials: float, chance: float, draw: Callable[[], float]) -> float:
    """Transform pairs of uniform numbers until one is below the density."""
    deviation = math.sqrt(trials * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    mode = math.floor((trials + 1) * chance)
    odds = math.log(chance / (1 - chance))
    highest = math.lgamma(mode + 1) + math.lgamma(trials - mode + 1)
    while True:
        u, v = draw() - 0.5, draw()
        margin = 0.5 - abs(u)
        if not margin:  # it would divide by zero
            continue
        hits = math.floor((2 * a / margin + b) * u + trials * chance + 0.5)
        if margin >= 0.07 and v <= 0.92 - 4.2 / b:
            return float(hits)
        if not 0 <= hits <= trials:
            continue
        height = v * (2.83 + 5.1 / b) * deviation / (a / margin**2 + b)
        if height <= 0 or math.log(height) <= (highest - math.lgamma(hits + 1)
                                               - math.lgamma(trials - hits + 1)
                                               + (hits - mode) * odds):
            return float(hits)


def binomial_numbers(xp: Any, trials: Array, chance: Array, lgamma: Callable[[Array], Array],
                     draw: Callable[[], Array]) -> Array:
    """Return a number for each pair, in float64, running both methods on whole arrays.

    `draw` returns uniform numbers from [0, 1), in an array of the pairs' shape.
    """
    trials, chance = trials.astype("float64"), chance.astype("float64")
    rarer = xp.minimum(chance, 1 - chance)
    inside = (trials > 0) & (rarer > 0)
    many = inside & (trials * rarer >= 10)
    hits = xp.zeros_like(rarer)

    waiting, passed = inside & ~many, xp.zeros_like(rarer)
    slope = xp.log1p(-xp.where(waiting, rarer, 0.5))
    while waiting.any().item():
        passed = passed + xp.ceil(xp.log(1 - draw()) / slope)
        waiting = waiting & (passed <= trials)
        hits += waiting

    n, p = xp.where(many, trials, 40), xp.where(many, rarer, 0.5)
    deviation = xp.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    mode, odds = xp.floor((n + 1) * p), xp.log(p / (1 - p))
    highest = lgamma(mode + 1) + lgamma(n - mode + 1)
    while many.any().item():
        u, v = draw() - 0.5, draw()
        margin = 0.5 - abs(u)
        found = xp.floor((2 * a / margin + b) * u + n * p + 0.5)
        fits = (margin > 0) & (found >= 0) & (found <= n)
        found = xp.where(fits, found, 0)
        height = xp.log(v * (2.83 + 5.1 / b) * deviation / (a / margin**2 + b))
        below = height <= (highest - lgamma(found + 1) - lgamma(n - found + 1)
                           + (found - mode) * odds)
        taken = many & fits & below
        hits, many = xp.where(taken, found, hits), many & ~taken
    hits = xp.where(inside & (chance > 0.5), trials - hits, hits)
    hits = xp.where((trials > 0) & (chance >= 1), trials, hits)
    return xp.where(xp.isnan(chance) | xp.isnan(trials), math.nan, hits)
