"""Flame graphs: a bar for each event, as wide as its duration, on top of the enclosing event."""

from __future__ import annotations

from collections.abc import Sequence

from .drawing import MOST_WIDTH, SMALL, Drawing, text_width

__all__ = ["flame"]

ROW = 26.0


def flame(events: Sequence[tuple[str, float, float, int, str]], width: float = MOST_WIDTH - 24
          ) -> Drawing:
    """Draw events, each given as name, begin, end, depth and class of shapes."""
    first = min(begin for _, begin, _, _, _ in events)
    scale = width / (max(end for _, _, end, _, _ in events) - first)
    drawing = Drawing()
    for name, begin, end, depth, kind in events:
        x, bar = (begin - first) * scale, (end - begin) * scale
        drawing.box(x + 0.5, depth * ROW, max(bar - 1, 1), ROW - 2, kind, 2)
        fitting = int((bar - 6) / text_width("m", SMALL))
        text = name if len(name) <= fitting else f"{name[: fitting - 1]}…" if fitting > 3 else ""
        if text:
            drawing.text(x + bar / 2, depth * ROW + ROW / 2 - 1, text, "code", size=SMALL)
    return drawing
