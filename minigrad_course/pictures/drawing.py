"""The shapes and text of which every picture is made, each with a class, written as SVG.

NOTE [Colours of a picture]
    A shape has classes, never a colour, and the style sheet gives each class a light and a dark
    colour: blue for forward values, orange for gradients, "right" and "wrong" for verdicts. All
    other shapes are grey. A picture in a separate file contains its style sheet, which follows the
    system's setting. On the site, the shapes are part of the page and follow the page's switch
    (`site_style`). Colour is never the only sign: gradients are dashed and have a ∂ or ×.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Self

__all__ = ["MOST_WIDTH", "PALETTE", "SMALL", "TEXT", "Drawing", "Picture", "beside", "chained",
           "site_style", "stacked", "text_width"]

Point = tuple[float, float]

#: The width of the widest picture, and the sizes of text, which stay readable on a phone.
MOST_WIDTH, TEXT, SMALL = 440, 14, 13
#: Space around a picture.
MARGIN = 12

#: Each colour in light and dark mode.
PALETTE = {
    "paper": ("#FFFFFF", "#12151B"),
    "surface": ("#F5F6F8", "#1B2029"),
    "ink": ("#1A1E26", "#E7EAF0"),
    "muted": ("#545C6A", "#A5AEBD"),
    "border": ("#7A8392", "#727D8F"),
    "forward": ("#1B58B8", "#86B7FF"),
    "forward-line": ("#2E6FD6", "#5C9AF2"),
    "forward-fill": ("#DFEBFC", "#17305A"),
    "gradient": ("#A64600", "#FFB069"),
    "gradient-line": ("#CC5F0A", "#EE8B33"),
    "gradient-fill": ("#FFE6D0", "#4B280A"),
    "right": ("#176B3A", "#72D49C"),
    "wrong": ("#B0123F", "#FF8CA3"),
}

#: A class of text is a colour of the palette; these are the classes of shapes.
_RULES = (
    "{s} text{{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--ink)}}"
    "{s} .code{{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',"
    "monospace}}"
    "{s} .strong{{font-weight:600}}"
    "{s} text.muted{{fill:var(--muted)}}{s} text.forward{{fill:var(--forward)}}"
    "{s} text.gradient{{fill:var(--gradient)}}{s} text.right{{fill:var(--right)}}"
    "{s} text.wrong{{fill:var(--wrong)}}"
    "{s} .sheet{{fill:var(--paper)}}"
    "{s} .box{{fill:var(--paper);stroke:var(--border);stroke-width:1.5}}"
    "{s} .plain{{fill:var(--surface);stroke:none}}"
    "{s} .saved{{fill:var(--paper);stroke:var(--border);stroke-width:1.5;stroke-dasharray:2 3}}"
    "{s} .on-forward{{fill:var(--forward-fill);stroke:var(--forward-line);stroke-width:1.5}}"
    "{s} .on-gradient{{fill:var(--gradient-fill);stroke:var(--gradient-line);stroke-width:1.5}}"
    "{s} .pill{{fill:var(--gradient-fill);stroke:none}}"
    "{s} .on-wrong{{fill:var(--paper);stroke:var(--wrong);stroke-width:2}}"
    "{s} .on-right{{fill:var(--paper);stroke:var(--right);stroke-width:2}}"
    "{s} .line{{fill:none;stroke:var(--border);stroke-width:1.5}}"
    "{s} .hair{{fill:none;stroke:var(--border);stroke-width:1;stroke-opacity:.45}}"
    "{s} .forward-line{{fill:none;stroke:var(--forward-line);stroke-width:2}}"
    "{s} .gradient-line{{fill:none;stroke:var(--gradient-line);stroke-width:2;"
    "stroke-dasharray:6 4}}"
    "{s} .gradient-solid{{fill:none;stroke:var(--gradient-line);stroke-width:2}}"
    "{s} .muted-line{{fill:none;stroke:var(--muted);stroke-width:2;stroke-dasharray:2 3}}"
    "{s} .right-line{{fill:none;stroke:var(--right);stroke-width:2}}"
    "{s} .wrong-line{{fill:none;stroke:var(--wrong);stroke-width:2}}"
    "{s} .head{{stroke-width:0}}{s} .head.line{{fill:var(--border)}}"
    "{s} .head.forward-line{{fill:var(--forward-line)}}"
    "{s} .head.gradient-line,{s} .head.gradient-solid{{fill:var(--gradient-line)}}"
    "{s} .head.muted-line{{fill:var(--muted)}}"
    "{s} .head.right-line{{fill:var(--right)}}{s} .head.wrong-line{{fill:var(--wrong)}}"
)
_SHEET = ".mg-drawing"


def _variables(scheme: int) -> str:
    return ";".join(f"--{name}:{colours[scheme]}" for name, colours in PALETTE.items())


def _style() -> str:
    return (f"{_SHEET}{{{_variables(0)}}}@media (prefers-color-scheme:dark){{{_SHEET}"
            f"{{{_variables(1)}}}}}" + _RULES.format(s=_SHEET))


def site_style() -> str:
    """Return the style sheet for the site: the palette and the rules for drawings.

    The page's switch chooses light or dark.
    """
    return (f"[data-md-color-scheme=default]{{{_variables(0)}}}\n"
            f"[data-md-color-scheme=slate]{{{_variables(1)}}}\n{_RULES.format(s=_SHEET)}\n")


def text_width(text: str, size: float = TEXT) -> float:
    """Return the maximum width of a text in the fonts of most systems."""
    return 0.61 * size * len(text)


def number(value: float) -> str:
    """Return a coordinate with at most one decimal.

    >>> number(2.04), number(-0.01)
    ('2', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


class Drawing:
    """Shapes, and the room that they take, measured from (0, 0)."""

    def __init__(self) -> None:
        self.shapes: list[str] = []
        self.width = self.height = 0.0

    def room(self, x: float, y: float) -> Self:
        """Extend the drawing to (x, y)."""
        self.width, self.height = max(self.width, x), max(self.height, y)
        return self

    def box(self, x: float, y: float, width: float, height: float, kind: str = "box",
            radius: float = 6) -> Self:
        """Add a rectangle."""
        self.shapes.append(f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" '
                           f'width="{number(width)}" height="{number(height)}" '
                           f'rx="{number(radius)}"/>')
        return self.room(x + width, y + height)

    def dot(self, x: float, y: float, radius: float = 4, kind: str = "head line") -> Self:
        """Add a circle."""
        self.shapes.append(f'<circle class="{kind}" cx="{number(x)}" cy="{number(y)}" '
                           f'r="{number(radius)}"/>')
        return self.room(x + radius, y + radius)

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "middle",
             size: float = TEXT) -> Self:
        """Add a line of text whose middle, start or end is at (x, y), unless it is ""."""
        if not text:
            return self
        classes = f' class="{kind}"' if kind else ""
        self.shapes.append(f'<text{classes} x="{number(x)}" y="{number(y + 0.35 * size)}" '
                           f'font-size="{number(size)}" text-anchor="{anchor}">'
                           f"{escape(text, quote=False)}</text>")
        share = {"start": 1.0, "middle": 0.5, "end": 0.0}[anchor]
        return self.room(x + share * text_width(text, size), y + size / 2)

    def line(self, points: Sequence[Point], kind: str = "line", arrow: bool = False) -> Self:
        """Add straight lines between points, with an arrowhead at the last one."""
        points = [*points]
        if arrow:
            before, tip = points[-2:]
            self.head(before, tip, kind)
            points[-1] = _back(before, tip, 6)
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.shapes.append(f'<polyline class="{kind}" points="{path}"/>')
        for point in points:
            self.room(*point)
        return self

    def curve(self, points: Sequence[Point], kind: str = "line", arrow: bool = False,
              upright: bool = True) -> Self:
        """Add a curve through points that is vertical, or horizontal, at each of them."""
        points = [*points]
        if arrow:
            before, tip = points[-2:]
            aim = (tip[0], before[1]) if upright else (before[0], tip[1])
            aim = before if aim == tip else aim
            self.head(aim, tip, kind)
            points[-1] = _back(aim, tip, 6)
        path = f"M{number(points[0][0])} {number(points[0][1])}"
        for (x, y), (to_x, to_y) in pairwise(points):
            middle = (y + to_y) / 2 if upright else (x + to_x) / 2
            bends = ((x, middle), (to_x, middle)) if upright else ((middle, y), (middle, to_y))
            path += " C" + " ".join(f"{number(u)} {number(v)}" for u, v in (*bends, (to_x, to_y)))
        self.shapes.append(f'<path class="{kind}" d="{path}"/>')
        for point in points:
            self.room(*point)
        return self

    def head(self, before: Point, tip: Point, kind: str = "line") -> Self:
        """Add an arrowhead at `tip`, in the direction from `before`."""
        x, y = tip
        length = math.dist(before, tip) or 1.0
        dx, dy = (x - before[0]) / length, (y - before[1]) / length
        corners = [(x, y), (x - 9 * dx - 4.5 * dy, y - 9 * dy + 4.5 * dx),
                   (x - 9 * dx + 4.5 * dy, y - 9 * dy - 4.5 * dx)]
        path = " ".join(f"{number(u)},{number(v)}" for u, v in corners)
        self.shapes.append(f'<polygon class="head {kind}" points="{path}"/>')
        return self

    def put(self, other: Drawing, x: float, y: float) -> Self:
        """Add another drawing with its corner at (x, y)."""
        self.shapes += [f'<g transform="translate({number(x)} {number(y)})">', *other.shapes,
                        "</g>"]
        return self.room(x + other.width, y + other.height)


def _back(before: Point, tip: Point, by: float) -> Point:
    """Return the point `by` before `tip`, so that the line does not show beside its arrowhead."""
    length = math.dist(before, tip) or 1.0
    return (tip[0] - by * (tip[0] - before[0]) / length,
            tip[1] - by * (tip[1] - before[1]) / length)


def stacked(drawings: Iterable[Drawing], gap: float = 16, titles: Sequence[str] = ()) -> Drawing:
    """Return drawings one below the other, centred, each under its title."""
    drawings = [*drawings]
    whole, y = Drawing(), 0.0
    width = max([*(each.width for each in drawings), *(text_width(title) for title in titles)])
    for place, each in enumerate(drawings):
        if titles:
            whole.text(0, y + TEXT / 2 + 1, titles[place], "strong", "start")
            y += TEXT + 10
        whole.put(each, (width - each.width) / 2, y)
        y += each.height + gap
    return whole


def beside(drawings: Iterable[Drawing], gap: float = 24, titles: Sequence[str] = ()) -> Drawing:
    """Return drawings side by side, each under its title."""
    drawings = [*drawings]
    whole, x = Drawing(), 0.0
    top = TEXT + 12 if titles else 0
    for place, each in enumerate(drawings):
        width = max(each.width, text_width(titles[place]) if titles else 0)
        if titles:
            whole.text(x + width / 2, TEXT / 2 + 1, titles[place], "strong")
        whole.put(each, x + (width - each.width) / 2, top)
        x += width + gap
    return whole


def chained(drawings: Iterable[Drawing], kind: str = "line", room: float = 34,
            labels: Sequence[str] = (), backward: bool = False) -> Drawing:
    """Return drawings in a row, vertically centred, with arrows or labels between them."""
    drawings = [*drawings]
    height = max(each.height for each in drawings)
    whole, x = Drawing(), 0.0
    for place, each in enumerate(drawings):
        whole.put(each, x, (height - each.height) / 2)
        x += each.width
        if place < len(drawings) - 1:
            if labels:
                whole.text(x + room / 2, height / 2, labels[place], "strong")
            else:
                ends = [(x + 5, height / 2), (x + room - 5, height / 2)]
                whole.line(ends[::-1] if backward else ends, kind, arrow=True)
            x += room
    return whole


@dataclass(frozen=True)
class Picture:
    """A drawing with its words: a title, a description and a caption."""

    drawing: Drawing
    title: str
    alt: str  # every fact that it shows, in one or two sentences, for people who cannot see it
    caption: str  # what to notice, as Markdown
    style: str = ""  # extra CSS rules, such as an animation

    def svg(self, name: str) -> str:
        """Return the picture as SVG; `name` is the prefix of each identifier in it."""
        width, height = self.drawing.width + 2 * MARGIN, self.drawing.height + 2 * MARGIN
        size = f"{number(width)} {number(height)}"
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mg-drawing" viewBox="0 0 {size}" '
            f'width="{number(width)}" height="{number(height)}" role="img" '
            f'aria-labelledby="{name}-title {name}-desc">',
            f'<title id="{name}-title">{escape(self.title, quote=False)}</title>',
            f'<desc id="{name}-desc">{escape(self.alt, quote=False)}</desc>',
            f"<style>{_style()}{self.style}</style>",
            f'<rect class="sheet" width="{number(width)}" height="{number(height)}" rx="6"/>',
            f'<g transform="translate({MARGIN} {MARGIN})">', *self.drawing.shapes, "</g>", "</svg>"]
        return "\n".join(lines) + "\n"
