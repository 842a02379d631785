"""Grids of cells: matrices, windows over them, Jacobians, how shapes are stretched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .drawing import SMALL, Drawing
from .graphs import short

__all__ = ["grid"]

#: A cell: its row and its column.
Cell = tuple[int, int]


def grid(rows: Sequence[Sequence[Any]], kinds: Mapping[Cell, str] | None = None, cell: float = 30,
         tones: Mapping[Cell, str] | None = None, label: str = "", hidden: Collection[Cell] = (),
         kind: str = "box", tone: str = "code") -> Drawing:
    """Draw rows of cells with a number or a text in each.

    `kinds` gives cells a shape other than `kind`, `tones` texts a class other than `tone`; of
    `hidden` ones only the border is drawn. `label` stands above.
    """
    drawing = Drawing()
    top = 22 if label else 0
    width = max(map(len, rows)) * cell
    if label:
        drawing.text(width / 2, 8, label, "muted", size=SMALL)
    marked = []
    for row, values in enumerate(rows):
        for column in range(len(values)):
            place = (row, column)
            shape = (kinds or {}).get(place, kind)
            if shape != kind:  # above its neighbours' borders
                marked.append((place, shape))
            else:
                drawing.box(column * cell, top + row * cell, cell, cell, shape, 2)
    for (row, column), shape in marked:
        drawing.box(column * cell, top + row * cell, cell, cell, shape, 2)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            if (row, column) not in hidden:
                text = value if isinstance(value, str) else short(value)
                drawing.text((column + 0.5) * cell, top + (row + 0.5) * cell, text,
                             (tones or {}).get((row, column), tone), size=SMALL)
    return drawing
