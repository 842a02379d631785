"""Tables of chips: the contents of a queue and counts, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .drawing import SMALL, Drawing, text_width

__all__ = ["Chip", "table"]

ROW, CHIP = 34.0, 24.0


@dataclass(frozen=True)
class Chip:
    """A short text in a box of class `kind`; without a box if `kind` is ""."""

    text: str
    kind: str = "box"
    tone: str = "code"

    @property
    def width(self) -> float:
        """The width that the chip takes."""
        return text_width(self.text, SMALL) + (14 if self.kind else 0)


def table(heads: Sequence[str], rows: Sequence[Sequence[Sequence[Chip] | str]],
          gap: float = 18) -> Drawing:
    """Draw rows of cells; a cell is a text or several chips side by side."""
    cells = [[[Chip(cell, "", "")] if isinstance(cell, str) else list(cell) for cell in row]
             for row in rows]
    widths = [max(text_width(head, SMALL), *(_width(row[place]) for row in cells))
              for place, head in enumerate(heads)]
    drawing, x = Drawing(), 0.0
    starts = []
    for head, width in zip(heads, widths, strict=True):
        drawing.text(x, 8, head, "muted", "start", SMALL)
        starts.append(x)
        x += width + gap
    for number, row in enumerate(cells):
        y = 22 + number * ROW
        drawing.line([(0, y), (x - gap, y)], "hair")
        for start, chips in zip(starts, row, strict=True):
            place = start
            for chip in chips:
                if chip.kind:
                    drawing.box(place, y + (ROW - CHIP) / 2, chip.width, CHIP, chip.kind, 4)
                drawing.text(place + (chip.width / 2 if chip.kind else 0), y + ROW / 2, chip.text,
                             chip.tone, "middle" if chip.kind else "start", SMALL)
                place += chip.width + 5
    return drawing.room(x - gap, 22 + len(cells) * ROW)


def _width(chips: Sequence[Chip]) -> float:
    return sum(chip.width + 5 for chip in chips) - 5 if chips else 0.0
