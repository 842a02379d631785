"""Graphs: boxes and arrows, from numbers of `tiny`, from recorded nodes, or by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad import viz
from minigrad.tiny import Number, backward_order, gradients
from minigrad.viz.layout import layered

from .drawing import SMALL, Drawing, text_width

__all__ = ["Arrow", "Box", "backward_graph", "graph", "number_graph", "short"]

#: The height of a line of text in a box, the room beside it, and the gap for an arrow's label.
LINE, SIDE, LABEL_GAP = 18.0, 10.0, 14.0


@dataclass(frozen=True)
class Box:
    """A node: its name, below it a value on the left and a gradient on the right, and notes."""

    name: str
    value: str = ""
    grad: str = ""
    notes: tuple[str, ...] = ()
    kind: str = "box"  # a class of shapes
    leaf: bool = False  # draws a rounded box
    code: bool = True

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the box."""
        pair = text_width(self.value, SMALL) + text_width(self.grad, SMALL) + \
            (14 if self.value and self.grad else 0)
        width = max(text_width(self.name), pair, *(text_width(each, SMALL) for each in self.notes),
                    20)
        count = 1 + bool(self.value or self.grad) + len(self.notes)
        return width + 2 * SIDE + (8 if self.leaf else 0), LINE * count + 8


@dataclass(frozen=True)
class Arrow:
    """An edge between two boxes; `kind` is a class of lines, and `backward` points to `start`."""

    start: str
    end: str
    label: str = ""
    kind: str = "line"
    backward: bool = False


def short(value: float) -> str:
    """Return a number as pictures show it.

    >>> short(2.718281), short(36.0), short(1e-8), short(-0.5)
    ('2.72', '36', '1e-08', '-0.5')
    """
    return f"{value:.3g}" if value else "0"


def graph(boxes: Mapping[str, Box], arrows: Sequence[Arrow], down: bool = False,
          room: float = 0) -> Drawing:
    """Lay out and draw a graph, from left to right or downward; `room` is added to the gaps."""
    names = list(boxes)
    sizes = [boxes[name].size for name in names]
    labels = [each.label for each in arrows]
    widest = max((text_width(label, SMALL) for label in labels if label), default=0.0)
    extra = room + ((LABEL_GAP if down else widest + 4) if any(labels) else -8)
    places = [(names.index(each.start), names.index(each.end)) for each in arrows]
    laid = layered([(w, h + extra) if down else (h, w + extra) for w, h in sizes], places)
    turn = (lambda point: point) if down else (lambda point: (point[1], point[0]))
    centres = [turn(point) for point in laid.centres]
    left = min(x - w / 2 for (x, _), (w, _) in zip(centres, sizes, strict=True))
    top = min(y - h / 2 for (_, y), (_, h) in zip(centres, sizes, strict=True))
    drawing = Drawing()
    pills = []
    for arrow, route, (start, end) in zip(arrows, laid.routes, places, strict=True):
        points = [(x - left, y - top) for x, y in map(turn, route)]
        for place, number, side in ((0, start, 1), (-1, end, -1)):  # start and end at box borders
            (x, y), (w, h) = centres[number], sizes[number]
            points[place] = ((points[place][0], y - top + side * h / 2) if down
                             else (x - left + side * w / 2, points[place][1]))
        pills.append((arrow, _middle(points)))
        drawing.curve(points[::-1] if arrow.backward else points, arrow.kind, True, upright=down)
    for name, (x, y), (width, height) in zip(names, centres, sizes, strict=True):
        _draw_box(drawing, boxes[name], x - left - width / 2, y - top - height / 2, width, height)
    for arrow, (x, y) in pills:
        if arrow.label:
            width = text_width(arrow.label, SMALL) + 8
            backward = arrow.kind.startswith("gradient")
            drawing.box(x - width / 2, y - 10, width, 20, "pill" if backward else "sheet", 10)
            drawing.text(x, y, arrow.label, "code gradient" if backward else "code", size=SMALL)
    return drawing


def _middle(points: list[tuple[float, float]]) -> tuple[float, float]:
    place = (len(points) - 1) // 2
    (x, y), (to_x, to_y) = points[place], points[place + 1]
    return (x + to_x) / 2, (y + to_y) / 2


def _draw_box(drawing: Drawing, box: Box, x: float, y: float, width: float, height: float) -> None:
    drawing.box(x, y, width, height, box.kind, height / 2 if box.leaf and height < 40
                else 16 if box.leaf else 6)
    line = y + 4 + LINE / 2
    drawing.text(x + width / 2, line, box.name, "code strong" if box.code else "strong")
    inset = SIDE + (4 if box.leaf else 0)
    if box.value or box.grad:
        line += LINE
        middle = x + width / 2
        both = box.value and box.grad
        if box.value:
            drawing.text(x + inset if both else middle, line, box.value, "code forward",
                         "start" if both else "middle", SMALL)
        if box.grad:
            drawing.text(x + width - inset if both else middle, line, box.grad, "code gradient",
                         "end" if both else "middle", SMALL)
    for note in box.notes:
        line += LINE
        drawing.text(x + width / 2, line, note, "muted", size=SMALL)


def number_graph(result: Number, names: Mapping[Number, str], backward: bool = True,
                 down: bool = False) -> Drawing:
    """Draw the graph of a `tiny` number: values, slopes and gradients.

    A name is followed by the operation, as in `"c = a × b"`. Without `backward` only the leaves
    show a value, so that the reader can work out the rest.
    """
    order = backward_order(result)[::-1]
    found = gradients(result)
    keys = {number: str(number.serial) for number in order}
    boxes = {}
    for each in order:
        name, _, step = names[each].partition(" = ")
        boxes[keys[each]] = Box(
            name, short(each.value) if backward or not each.inputs else "",
            f"∂ {short(found[each])}" if backward else "", (step,) if step else (),
            leaf=not each.inputs)
    arrows = [Arrow(keys[input], keys[each], f"×{short(slope)}" if backward else "",
                    "gradient-line" if backward else "forward-line", backward)
              for each in order for input, slope in zip(each.inputs, each.slopes, strict=True)]
    return graph(boxes, arrows, down)


def backward_graph(tensors: Any, names: Mapping[str, Any] | None = None, down: bool = True,
                   notes: Mapping[Any, tuple[str, ...]] | None = None,
                   kinds: Mapping[Any, str] | None = None, numbers: bool = False) -> Drawing:
    """Draw the graph of tensors, with arrows from nodes to the nodes that get their gradients.

    `names` names the leaves; `notes` and `kinds` give nodes lines of text and a shape; `numbers`
    labels each arrow with the number of its edge.
    """
    recorded = viz.graph(tensors, names)
    boxes, arrows = {}, []
    for place, node in enumerate(recorded.nodes):
        leaf = hasattr(node, "variable")
        name = recorded.names.label(node).removeprefix("AccumulateGrad ").partition(" ")[0]
        lines = ("AccumulateGrad",) * leaf + (notes or {}).get(node, ())
        boxes[str(place)] = Box(name, notes=lines,
                                kind=(kinds or {}).get(node, "box"), leaf=leaf)
        arrows += [Arrow(str(place), str(recorded.number[successor]),
                         f"number {number}" if numbers else "", "gradient-line")
                   for successor, number in node.next_functions if successor in recorded.number]
    return graph(boxes, arrows, down)
