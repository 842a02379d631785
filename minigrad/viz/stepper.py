"""`backward_steps`: a backward pass as a page to step through, without a server or a network."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..tensor.tensor import Tensor
from .layout import Layout, Point, layered
from .names import GivenNames, Names
from .steps import Buffer, NodeView, Step, record
from .values import Value
from .walk import as_list

TEMPLATE = Path(__file__).with_name("stepper.html")

LETTER = 7.2  # a letter's width in the boxes' font, and padding
BOX_HEIGHT = 44.0


class BackwardSteps:
    """A finished backward pass: its record (`nodes`, `steps`), and a page that shows it.

    `print` lists the steps, a notebook shows the page, and `save(path)` writes it.

    >>> import os, tempfile
    >>> from minigrad import tensor
    >>> steps = backward_steps(tensor(3.0, requires_grad=True) * 2); len(steps.steps)
    10
    >>> path = steps.save(os.path.join(tempfile.mkdtemp(), "backward.html")); path.name
    'backward.html'
    """

    def __init__(self, nodes: Sequence[NodeView], steps: Sequence[Step],
                 error: BaseException | None = None) -> None:
        self.nodes = list(nodes)
        self.steps = list(steps)
        self.error = error  # the error of the pass, if it failed

    @cached_property
    def html(self) -> str:
        """The complete page: markup, style, script and data, without external files."""
        return page(self.nodes, self.steps)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        """Return a frame with the page, for a notebook."""
        return (f'<iframe srcdoc="{html.escape(self.html)}" title="A backward pass, step by step" '
                'style="width: 100%; height: 720px; border: 1px solid #8888"></iframe>')

    def __repr__(self) -> str:
        return "\n".join(f"{i}. {step.text}" for i, step in enumerate(self.steps, 1))


def backward_steps(
    loss: Tensor | Sequence[Tensor],
    path: str | Path | None = None,
    names: GivenNames | None = None,
    *,
    gradient: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    catch: bool = False,
    limit: int = 200,
) -> BackwardSteps:
    """Run `loss.backward()` and return it as a page to step through; also write it to `path`.

    This is a real backward pass: hooks run, and `.grad` changes as in `loss.backward(gradient,
    retain_graph)`.  `names` gives names to leaves and results (`dict(model.named_parameters())`, or
    `locals()`).  An error in the pass is raised as usual, after the page so far was written to
    `path`; with `catch` it becomes the last step and is stored in `.error`.  Before the pass, it
    raises `ValueError` if the graph has more than `limit` nodes, and the errors of `backward` for a
    loss without a graph or without its gradient.

    >>> from minigrad import tensor
    >>> w = tensor(3.0, requires_grad=True)
    >>> passed = backward_steps(w * 2, names={"w": w})
    >>> w.grad
    tensor(2.)
    >>> passed.steps[-2].text
    '.grad of w was None and becomes 2.'
    """
    results = as_list(loss)
    gradients = [None] * len(results) if gradient is None else as_list(gradient)  # type: ignore[arg-type]  # or None
    if len(gradients) != len(results):
        raise RuntimeError(f"got {len(results)} tensors and {len(gradients)} gradients")
    diary, error = record(results, gradients, Names(names), retain_graph=retain_graph, limit=limit)
    passed = BackwardSteps(diary.nodes, diary.steps, error)
    if path is not None:
        passed.save(path)
    if error is not None and not catch:
        raise error
    return passed


# ---------------------------------------------------------------- the page


def page(nodes: Sequence[NodeView], steps: Sequence[Step]) -> str:
    """Return the page for a recorded pass."""
    items = "\n".join(f"<li>{html.escape(step.text)}</li>" for step in steps)
    parts = {"PICTURE": picture(nodes), "STEPS": items, "DATA": as_json(page_data(nodes, steps))}
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, part in parts.items():
        before, after = text.split(f"<!--{name}-->")
        text = before + part + after
    return text


def page_data(nodes: Sequence[NodeView], steps: Sequence[Step]) -> dict[str, Any]:
    """Return the data for the page's script: the changes that each step makes.

    Values are indices into a list, and counts, buffers and `.grad` hold only the changes, because
    otherwise the page would grow with the square of the graph.  The script reads the sentences from
    the page.
    """
    values: dict[Value | None, int] = {}

    def places(buffer: Buffer) -> list[int]:
        return [values.setdefault(value, len(values)) for value in buffer]

    states: list[dict[str, Any]] = []
    before: tuple[dict[Any, Any], ...] = ({}, {}, {})
    for step in steps:
        now: tuple[dict[Any, Any], ...] = (
            step.waiting,
            {n: places(buffer) for n, buffer in step.buffers.items()},
            {f"{n},{i}": places((value,))[0] for (n, i), value in step.grads.items()},
        )
        changed = [changes(old, new) for old, new in zip(before, now, strict=True)]
        states.append({
            "kind": step.event, "node": step.node, "edge": step.edge, "queue": step.queue,
            "value": None if step.value is None else places((step.value,))[0],
            "given": places(step.given), "results": places(step.results), "done": len(step.done),
            "waiting": changed[0], "buffers": changed[1], "grads": changed[2],
        })
        before = now
    return {
        "nodes": [{"text": str(node), "name": node.name, "called": node.called, "kind": node.role,
                   "saved": node.saved, "edges": [edge.target for edge in node.edges]}
                  for node in nodes],
        "values": ["None" if value is None else str(value) for value in values],
        "order": steps[-1].done,
        "states": states,
    }


def changes(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the entries of `after` that are new or different, and `None` for removed ones.

    >>> changes({1: 2, 3: 4, 5: 6}, {1: 2, 3: 7})
    {5: None, 3: 7}
    """
    gone = {key: None for key in before if key not in after}
    return gone | {k: v for k, v in after.items() if k not in before or before[k] != v}


def as_json(data: Any) -> str:
    """Return data as JSON that is safe in a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


# ---------------------------------------------------------------- the picture


def picture(nodes: Sequence[NodeView]) -> str:
    """Return the graph as SVG; the script finds its elements by their `id`."""
    edges = [(node.number, i, edge) for node in nodes for i, edge in enumerate(node.edges)
             if edge.target is not None]
    sizes = [(box_width(node), BOX_HEIGHT) for node in nodes]
    layout = layered(sizes, [(start, edge.target or 0) for start, _, edge in edges])
    lines = [
        f'<svg id="graph" viewBox="0 0 {layout.width:.0f} {layout.height:.0f}" '
        f'width="{layout.width:.0f}" height="{layout.height:.0f}" role="img" '
        'aria-label="The graph of the backward pass; the steps below say the same in words">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" '
        'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker></defs>',
    ]
    for (start, place, _), route in zip(edges, layout.routes, strict=True):
        lines.append(f'<path class="edge" id="e{start}-{place}" d="{curve(route)}"/>')
    lines += [box(node, layout) for node in nodes]
    lines.append('<g id="tag" hidden><rect/><text></text></g>')
    return "\n".join([*lines, "</svg>"])


def subtitle(node: NodeView) -> str:
    """Return the second line of a node's box."""
    if node.role == "root":
        return "the pass starts here"
    shapes = ", ".join(map(str, node.shapes))
    number = "" if node.sequence is None else f"#{node.sequence}"
    return " ".join(filter(None, (number, node.called, shapes)))


def box_width(node: NodeView) -> float:
    """Return the width that a node's box needs for its two lines."""
    return LETTER * max(len(node.name), len(subtitle(node)), 8) + 22


def box(node: NodeView, layout: Layout) -> str:
    """Return a node's box, with its two lines and a badge that counts its missing gradients."""
    x, y = layout.centres[node.number]
    width = box_width(node)
    left, top = x - width / 2, y - BOX_HEIGHT / 2
    return (
        f'<g class="node {node.role}" id="n{node.number}"><title>{html.escape(str(node))}</title>'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BOX_HEIGHT:.0f}" rx="7"/>'
        f'<text x="{x:.1f}" y="{y - 4:.1f}">{html.escape(node.name)}</text>'
        f'<text class="small" x="{x:.1f}" y="{y + 13:.1f}">{html.escape(subtitle(node))}</text>'
        f'<g class="badge"><circle cx="{left + width:.1f}" cy="{top:.1f}" r="10"/>'
        f'<text x="{left + width:.1f}" y="{top + 4:.1f}"></text></g></g>'
    )


def curve(route: Sequence[Point]) -> str:
    """Return a path through the points that is vertical at each of them."""
    (x, y), *rest = route
    parts = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return "".join(parts)
