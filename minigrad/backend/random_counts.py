"""Poisson numbers from uniform numbers, equal to PyTorch's on the CPU.

For rates below ten we multiply uniform numbers until the product falls below exp(-rate) (Knuth).
Otherwise we use transformed rejection (Hoermann, "The transformed rejection method for generating
Poisson random variables", 1993, algorithm PTRS).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Array = Any


def poisson_number(rate: float, draw: Callable[[], float]) -> int:
    """Return a Poisson number; `draw` returns uniform numbers from [0, 1).

    >>> poisson_number(2.0, iter([0.9, 0.5, 0.4, 0.1]).__next__)
    3
    """
    if rate == 0:
        return 0
    return by_products(rate, draw) if rate < 10 else by_rejection(rate, draw)


def by_products(rate: float, draw: Callable[[], float]) -> int:
    """Count uniform numbers while their product stays above exp(-rate)."""
    least, product, count = math.exp(-rate), draw(), 0
    while product > least:
        product *= draw()
        count += 1
    return count


def by_rejection(rate: float, draw: Callable[[], float]) -> int:
    """Transform pairs of uniform numbers until one is below the density."""
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    while True:
        u, v = draw() - 0.5, draw()
        margin = 0.5 - abs(u)
        if not margin:  # it would divide by zero
            continue
        count = math.floor((2 * a / margin + b) * u + rate + 0.43)
        if margin >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return count
        if count < 0 or (margin < 0.013 and v > margin):
            continue
        chance = math.exp(count * math.log(rate) - rate - math.lgamma(count + 1))
        if v * (1.1239 + 1.1328 / (b - 3.4)) <= chance * (a / margin**2 + b):
            return count


def poisson_numbers(xp: Any, rates: Array, lgamma: Callable[[Array], Array],
                    draw: Callable[[], Array]) -> Array:
    """Return a number for each rate, in float64, running both methods on whole arrays.

    `draw` returns uniform numbers from [0, 1), in an array of the rates' shape.
    """
    rates = rates.astype("float64")
    least, product, counts = xp.exp(-xp.where(rates < 10, rates, 0)), draw(), xp.zeros_like(rates)
    while (more := product > least).any().item():
        counts += more
        product = product * draw()
    pending, rate = rates >= 10, xp.maximum(rates, 10)
    b = 0.931 + 2.53 * xp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    while pending.any().item():
        u, v = draw() - 0.5, draw()
        margin = 0.5 - abs(u)
        found = xp.floor((2 * a / margin + b) * u + rate + 0.43)
        chance = xp.exp(found * xp.log(rate) - rate - lgamma(xp.maximum(found, 0) + 1))
        below = v * (1.1239 + 1.1328 / (b - 3.4)) <= chance * (a / margin**2 + b)
        taken = pending & (margin > 0) & (found >= 0) & below
        counts, pending = xp.where(taken, found, counts), pending & ~taken
    return counts
