"""Grids of cells: matrices, windows over them, Jacobians, broadcast shapes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .drawing import SMALL, Drawing, text_width
from .graphs import short

__all__ = ["grid", "row_times_matrix"]

#: A cell's row and column.
Cell = tuple[int, int]


def grid(rows: Sequence[Sequence[Any]], kinds: Mapping[Cell, str] | None = None, cell: float = 30,
         tones: Mapping[Cell, str] | None = None, label: str = "", hidden: Collection[Cell] = (),
         kind: str = "box", tone: str = "code") -> Drawing:
    """Draw rows of cells with a number or a text in each.

    `kinds` gives cells a shape other than `kind`, and `tones` gives texts a class other than
    `tone`. Cells in `hidden` show only their border. `label` is written above the grid.
    """
    if label:
        bare = grid(rows, kinds, cell, tones, hidden=hidden, kind=kind, tone=tone)
        width = max(bare.width, text_width(label, SMALL))
        return Drawing().text(width / 2, 8, label, "muted", size=SMALL).put(
            bare, (width - bare.width) / 2, 22)
    drawing = Drawing()
    marked = []
    for row, values in enumerate(rows):
        for column in range(len(values)):
            place = (row, column)
            shape = (kinds or {}).get(place, kind)
            if shape != kind:  # draw these last, over the borders of their neighbours
                marked.append((place, shape))
            else:
                drawing.box(column * cell, row * cell, cell, cell, shape, 2)
    for (row, column), shape in marked:
        drawing.box(column * cell, row * cell, cell, cell, shape, 2)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            if (row, column) not in hidden:
                text = value if isinstance(value, str) else short(value)
                drawing.text((column + 0.5) * cell, (row + 0.5) * cell, text,
                             (tones or {}).get((row, column), tone), size=SMALL)
    return drawing


def row_times_matrix(row: Sequence[float], matrix: Sequence[Sequence[float]],
                     result: Sequence[float], names: tuple[str, str, str], cell: float = 34
                     ) -> Drawing:
    """Draw a product `v J`: a weight to the left of each row, and the weighted sum below."""
    used = {(i, j): "on-gradient" for i, weight in enumerate(row) if weight
            for j in range(len(result))}
    tones = dict.fromkeys(((i, 0) for i in range(len(row))), "code gradient")
    drawing = Drawing()
    weights = grid([[weight] for weight in row], tones=tones, label=names[0], cell=cell)
    drawing.put(weights, 0, 0)
    table = grid(matrix, used, label=names[1], cell=cell)
    left = max(weights.width, text_width(names[2], SMALL)) + 16
    drawing.put(table, left, 0)
    left += (table.width - len(result) * cell) / 2
    below = 22 + len(row) * cell
    middle = left + len(result) * cell / 2
    drawing.line([(middle, below + 4), (middle, below + 24)], "gradient-line", arrow=True)
    drawing.put(grid([result], tone="code gradient", cell=cell), left, below + 28)
    return drawing.text(left - 8, below + 28 + cell / 2, names[2], "muted", "end", SMALL)
