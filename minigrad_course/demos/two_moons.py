"""Two moons of points, and a picture of the boundary that a classifier draws between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

__all__ = ["picture", "two_moons"]

Point = tuple[float, float]

#: The part of the plane that a picture shows.
LEFT, RIGHT, BOTTOM, TOP = -1.5, 2.5, -1.0, 1.5


def two_moons(count: int = 40) -> list[tuple[Point, float]]:
    """Return `count` points with their labels: 1.0 on the upper half moon, -1.0 on the lower one.

    >>> (x, y), label = two_moons(4)[0]
    >>> (x, y, label)
    (1.0, 0.0, 1.0)
    """
    half = count // 2
    angles = [math.pi * i / (half - 1) for i in range(half)]
    upper = [((math.cos(angle), math.sin(angle)), 1.0) for angle in angles]
    lower = [((1 - math.cos(angle), 0.5 - math.sin(angle)), -1.0) for angle in angles]
    return upper + lower


def picture(classify: Callable[[Point], float], points: Iterable[tuple[Point, float]],
            width: int = 64, height: int = 20) -> str:
    """Return a picture in characters: dots where `classify` is positive, and the points.

    A point is `o` for label 1.0 and `x` for label -1.0, in capitals where `classify` is wrong.
    """
    def cell(x: float, y: float) -> tuple[int, int]:
        return (round((TOP - y) / (TOP - BOTTOM) * (height - 1)),
                round((x - LEFT) / (RIGHT - LEFT) * (width - 1)))

    def point(row: int, column: int) -> Point:
        return (LEFT + (RIGHT - LEFT) * column / (width - 1),
                TOP - (TOP - BOTTOM) * row / (height - 1))

    rows = [["·" if classify(point(row, column)) > 0 else " " for column in range(width)]
            for row in range(height)]
    for (x, y), label in points:
        row, column = cell(x, y)
        mark = "o" if label > 0 else "x"
        rows[row][column] = mark if classify((x, y)) * label > 0 else mark.upper()
    return "\n".join("".join(row).rstrip() for row in rows)
