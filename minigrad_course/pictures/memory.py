"""A tensor's memory: a strip of cells, and the tensors that are views of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .drawing import SMALL, Drawing, text_width
from .graphs import short

__all__ = ["View", "places", "storage"]


@dataclass(frozen=True)
class View:
    """A tensor on the strip; `text` replaces its shape and strides, `marks` its element order."""

    name: str
    tensor: Any
    text: str = ""
    kind: str = "on-forward"
    marks: tuple[str, ...] = ()


def places(tensor: Any) -> list[int]:
    """Return the cells of the storage that a tensor uses, in the order of its elements.

    >>> from minigrad import arange
    >>> places(arange(6).reshape(2, 3).t())
    [0, 3, 1, 4, 2, 5]
    """
    found = [tensor.storage_offset()]
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        found = [place + i * stride for place in found for i in range(size)]
    return found


def storage(values: Sequence[Any], views: Sequence[View], badge: str = "",
            cell: float = 34) -> Drawing:
    """Draw a strip with its values, and below it a row per view with the cells that it uses."""
    drawing = Drawing()
    if badge:
        drawing.text(0, 8, badge, "muted", "start", SMALL)
    y = 22.0 if badge else 0.0
    for place, value in enumerate(values):
        drawing.box(place * cell, y, cell, cell, "box", 2)
        drawing.text((place + 0.5) * cell, y + cell / 2,
                     value if isinstance(value, str) else short(value), "code", size=SMALL)
    y += cell + 10
    for view in views:
        tensor = view.tensor
        text = view.text or (f"shape {tuple(tensor.shape)}, strides {tensor.stride()}, "
                             f"offset {tensor.storage_offset()}")
        drawing.text(0, y + 8, view.name, "code strong", "start", SMALL)
        drawing.text(text_width(f"{view.name}  ", SMALL), y + 8, text, "muted", "start", SMALL)
        y += 20
        for order, place in enumerate(places(tensor)):
            drawing.box(place * cell + 2, y, cell - 4, 20, view.kind, 2)
            mark = view.marks[order] if view.marks else str(order)
            drawing.text((place + 0.5) * cell, y + 10, mark, "code", size=SMALL)
        y += 30
    return drawing.room(len(values) * cell, y - 10)
