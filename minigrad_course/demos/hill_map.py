"""A map of a plain with four hills, and a picture of the paths across it."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["COLUMNS", "GOAL", "ROWS", "START", "efforts", "picture"]

#: The size of the map, and the start and end of each path.
ROWS, COLUMNS = 13, 48
START, GOAL = (6, 1), (6, 46)

#: Row, column and size of each hill.
_HILLS = (5, 11, 2.2), (0, 22, 2.6), (12, 23, 2.8), (7, 35, 2.2)


def efforts(seed: int = 0) -> Any:
    """Return the effort of each cell of the map: 1 on the plain, up to 10 on a hill.

    >>> float(efforts()[START].round(1))
    1.0
    """
    y, x = np.mgrid[0:ROWS, 0:COLUMNS]
    effort = 1 + np.random.default_rng(seed).uniform(0, 0.05, (ROWS, COLUMNS))
    for row, column, size in _HILLS:
        effort += 9 * np.exp(-((y - row) ** 2 + ((x - column) / 1.8) ** 2) / size**2)
    return effort


def picture(effort: Any, visits: Any) -> str:
    """Return the map: hills as shades, `#` where all paths pass, elsewhere the visits in tenths.

    >>> print(picture(efforts(), np.zeros((ROWS, COLUMNS))).splitlines()[6])
     S    .:=+%%%+=:.             .:=+%%%+=:.     G
    """
    lines = []
    for row in range(ROWS):
        line = ""
        for column in range(COLUMNS):
            share = round(10 * float(visits[row, column]))
            hill = " .:-=+*%"[min(7, int(effort[row, column] - 0.9))]
            line += "S" if (row, column) == START else "G" if (row, column) == GOAL else (
                "#" if share >= 10 else str(share) if share else hill)
        lines.append(line.rstrip())
    return "\n".join(lines)
