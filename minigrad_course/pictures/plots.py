"""Curves in a frame with axes, contour lines, and bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .drawing import MOST_WIDTH, SMALL, Drawing, text_width
from .graphs import short

__all__ = ["Curve", "bars", "plot"]

Point = tuple[float, float]
LEFT, RIGHT, BOTTOM = 46.0, 14.0, 40.0


@dataclass(frozen=True)
class Curve:
    """Points with a name, written at point number `at` (by default the last)."""

    points: Sequence[Point]
    name: str = ""
    kind: str = "forward-line"
    at: int = -1
    dots: bool = False
    shift: Point = (0, -12)  # of the name
    anchor: str = "end"


def plot(curves: Sequence[Curve], across: str, up: str, log_x: bool = False, log_y: bool = False,
         width: float = MOST_WIDTH - 24, height: float = 250,
         x_ticks: Sequence[float] | None = None, y_ticks: Sequence[float] | None = None,
         contours: Sequence[Curve] = (), legend: Point | None = None) -> Drawing:
    """Draw curves in one frame; `across` and `up` label the axes.

    Ticks are powers of ten on a logarithmic axis, otherwise round numbers. The frame reaches at
    least from the first tick to the last. With a `legend` the names are listed at that point, given
    as fractions of the frame from its left and top, instead of at their curves.
    """
    every = [point for curve in curves for point in curve.points]
    ticks = [given if given is not None else _ticks([p[axis] for p in every], logs)
             for axis, (given, logs) in enumerate([(x_ticks, log_x), (y_ticks, log_y)])]
    frames = [(min([*ticks[axis], *(p[axis] for p in every)]),
               max([*ticks[axis], *(p[axis] for p in every)])) for axis in (0, 1)]

    def share(value: float, axis: int) -> float:
        low, high = frames[axis]
        if (log_x, log_y)[axis]:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return (value - low) / (high - low)

    def place(point: Point) -> Point:
        return (LEFT + share(point[0], 0) * (width - LEFT - RIGHT),
                12 + (1 - share(point[1], 1)) * (height - BOTTOM - 12))

    drawing = Drawing()
    floor, right = height - BOTTOM, width - RIGHT
    for value in ticks[1]:
        y = place((frames[0][0], value))[1]
        drawing.line([(LEFT, y), (right, y)], "hair")
        drawing.text(LEFT - 6, y, _tick(value, log_y), "muted", "end", SMALL)
    for value in ticks[0]:
        x = place((value, frames[1][0]))[0]
        drawing.line([(x, floor), (x, floor + 4)], "line")
        drawing.text(x, floor + 13, _tick(value, log_x), "muted", size=SMALL)
    drawing.line([(LEFT, floor), (right, floor)], "line")
    drawing.text((LEFT + right) / 2, floor + 31, across, size=SMALL)
    for curve in contours:
        drawing.line([place(point) for point in curve.points], "hair")
    for curve in curves:
        points = [place(point) for point in curve.points]
        if len(points) > 1:
            drawing.line(points, curve.kind)
        if curve.dots:
            for x, y in points:
                drawing.dot(x, y, 3, f"head {curve.kind}")
    named = [curve for curve in curves if curve.name]
    for number, curve in enumerate(named):
        style = f"strong {_tone(curve.kind)}"
        if legend is None:
            x, y = place(curve.points[curve.at])
            drawing.text(x + curve.shift[0], y + curve.shift[1], curve.name, style, curve.anchor,
                         SMALL)
        else:
            x = LEFT + legend[0] * (right - LEFT)
            y = 12 + legend[1] * (floor - 12) + 20 * number
            drawing.line([(x, y), (x + 24, y)], curve.kind)
            drawing.text(x + 30, y, curve.name, style, "start", SMALL)
    whole = Drawing().text(0, 8, up, anchor="start", size=SMALL)
    return whole.put(drawing, 0, 16).room(width, height + 16)


def _tone(kind: str) -> str:
    """Return the class of text for a class of lines."""
    return kind.partition("-")[0] if kind != "line" else ""


def _ticks(values: Sequence[float], logs: bool) -> list[float]:
    low, high = min(values), max(values)
    if not logs:
        unit = 10.0 ** math.floor(math.log10(high - low or 1.0))
        step = next(each for each in (unit / 5, unit / 2, unit, 2 * unit)
                    if (high - low) / each <= 5)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return [round(step * place, 12) for place in range(first, max(last, first + 1) + 1)]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / 5))
    return [10.0 ** power for power in range(first, last + 1, step)]


def _tick(value: float, logs: bool) -> str:
    power = round(math.log10(value)) if value > 0 else 0
    if logs and abs(power) > 1 and math.isclose(value, 10.0 ** power):
        return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] if c != "-" else "⁻" for c in str(power))
    return short(value)


def bars(rows: Sequence[tuple[str, float, str]], unit: str = "", width: float = MOST_WIDTH - 24,
         say: Callable[[float], str] = short) -> Drawing:
    """Draw a horizontal bar for each name, value and class of shapes, with the value at its end."""
    drawing = Drawing()
    left = max(text_width(name, SMALL) for name, _, _ in rows) + 8
    most = max(value for _, value, _ in rows)
    texts = [f"{say(value)}{f' {unit}' if unit else ''}" for _, value, _ in rows]
    room = width - left - max(text_width(text, SMALL) for text in texts) - 8
    for number, ((name, value, kind), text) in enumerate(zip(rows, texts, strict=True)):
        y = number * 30
        drawing.text(left - 8, y + 12, name, "code", "end", SMALL)
        drawing.box(left, y + 1, max(room * value / most, 2), 22, kind, 2)
        drawing.text(left + room * value / most + 6, y + 12, text, "code", "start", SMALL)
    return drawing
