"""Gamma numbers from normal and uniform numbers, equal to PyTorch's on the CPU.

A cubed normal number is accepted if it is below the density (Marsaglia and Tsang, "A simple method
for generating gamma variables", 2000). Shapes below one are raised by one, and a power of a uniform
number scales the result down again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any

#: PyTorch uses the float32 value.
THIRD = float(np.float32(1) / np.float32(3))


def gamma_number(shape: Any, draw: Callable[[], float], normal: Callable[[], float]) -> float:
    """Return a gamma number for a shape > 0 and rate 1.

    `draw` returns uniform numbers from [0, 1), `normal` normal numbers.  Each step is rounded to
    the type of `shape`, as in PyTorch.

    >>> gamma_number(1.0, lambda: 0.5, lambda: 0.0)
    0.6666666567325592
    """
    number, scale = type(shape), 1.0
    if shape < 1:
        if shape == 0:
            return 0.0
        scale = (1 - draw()) ** float(1 / shape)
        shape += number(1)
    d = shape - number(THIRD)
    c = number(1 / math.sqrt(9 * d)) if d > 0 else number(math.nan)
    while True:
        x = number(normal())
        while (root := 1 + c * x) <= 0:
            x = number(normal())
        cube, square, u = root * root * root, x * x, number(1 - draw())
        if not u >= 1 - 0.0331 * float(square) * float(square):
            return scale * float(d) * float(cube)
        if math.isnan(cube) or math.log(u) < (0.5 * float(square)
                                              + float(d) * (1 - float(cube) + math.log(cube))):
            return scale * float(d) * float(cube)


def gamma_numbers(xp: Any, shapes: Array, draw: Callable[[], Array],
                  normal: Callable[[], Array]) -> Array:
    """Return a number for each shape, in float64, running the same method on whole arrays.

    `draw` and `normal` return arrays of new numbers with the same shape as `shapes`.
    """
    shapes = shapes.astype("float64")
    small = shapes < 1
    scale = xp.where(small, (1 - draw()) ** (1 / xp.where(small, shapes, 1)), 1)
    d = xp.where(small, shapes + 1, shapes) - 1 / 3
    c = 1 / xp.sqrt(9 * d)
    result, pending = xp.full_like(d, math.nan), shapes >= 0
    while pending.any().item():
        x = normal()
        root = 1 + c * x
        cube = xp.where(root > 0, root, 1) ** 3
        below = xp.log(1 - draw()) < x * x / 2 + d * (1 - cube + xp.log(cube))
        taken = pending & (root > 0) & below
        result, pending = xp.where(taken, scale * d * cube, result), pending & ~taken
    return result
