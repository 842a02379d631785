"""A graph in DOT, the language of Graphviz, and its drawing as SVG.

Arrows point in the direction of the gradients, from the result to the leaves.  The number on an
arrow is the second half of a `next_functions` pair: the output of the operation whose gradient it
is.

NOTE [Programs that draw]
    On a computer, Graphviz's program `dot` draws.  A browser cannot run programs, so the page must
    define a JavaScript function `minigradDrawDot` that takes DOT text and returns SVG text.  With
    viz-js (Graphviz compiled for browsers) that is

        globalThis.minigradDrawDot = (dot) => viz.renderString(dot, {format: "svg"});
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..graph.node import Node
from .names import shape_text
from .walk import node_saves

if TYPE_CHECKING:
    from .graph import Graph

NO_PACKAGE = (
    "pictures need the Python package graphviz, which the extra 'tour' brings: "
    "pip install -e '.[tour]'"
)
NO_PROGRAM = (
    "pictures need the program dot, which is part of Graphviz: apt install graphviz (Debian, "
    "Ubuntu), brew install graphviz (macOS), or see https://graphviz.org/download/"
)
NO_FUNCTION = (
    "pictures in a browser need viz-js on the page: "
    "globalThis.minigradDrawDot = (dot) => viz.renderString(dot, {format: 'svg'})"
)

HEADER = """digraph minigrad {
  graph [rankdir=TB, bgcolor=white, nodesep=0.3, ranksep=0.35]
  node [shape=box, style="rounded,filled", fillcolor="#eef2f7", color="#5b6b7f", \
fontname="Helvetica", fontsize=11, margin="0.12,0.05", height=0.3]
  edge [color="#5b6b7f", fontname="Helvetica", fontsize=9, fontcolor="#5b6b7f", arrowsize=0.7]"""
RESULT = 'style=filled, fillcolor="#d8ecd8", color="#3f7f3f"'
LEAF = 'style=filled, fillcolor="#d6e6fb", color="#2f6fb5"'
SAVED = 'shape=note, style=filled, fillcolor="#fdf3d0", color="#b58f2f", fontsize=9'
NOTHING = 'shape=plaintext, style="", fontcolor="#8a97a6", fontsize=9'
CLUSTER = 'style="rounded,dashed"; color="#9fb4cc"; fontname="Helvetica"; fontsize=9'


def dot_text(graph: Graph) -> str:
    """Return the graph in Graphviz's language."""
    lines = [HEADER]
    for i, (tensor, root) in enumerate(graph.roots):
        text = f"{graph.names.result(tensor)} {shape_text(tensor)}"
        lines.append(f"  r{i} [label={quoted(text)}, {RESULT}]")
        if root in graph.number:
            lines.append(edge(f"r{i}", f"n{graph.number[root]}", tensor.output_nr))
    for node, i in graph.number.items():
        style = f", {LEAF}" if hasattr(node, "variable") else ""
        lines.append(f"  n{i} [label={quoted(graph.label(node))}{style}]")
        lines += saves_of(graph, node, i) if graph.saved else []
        lines += edges_of(graph, node, i)
    lines += clusters_of(graph)
    if graph.note:
        lines.append(f"  label={quoted(graph.note)}; fontname=Helvetica; fontsize=10")
    return "\n".join([*lines, "}", ""])


def edges_of(graph: Graph, node: Node, i: int) -> Iterator[str]:
    """Yield a node's arrows; an arrow to `None`, or out of the picture, ends at a small label."""
    for position, (successor, index) in enumerate(node.next_functions):
        if successor in graph.number:
            yield edge(f"n{i}", f"n{graph.number[successor]}", index)
            continue
        text = "None" if successor is None else "…"
        yield f"  n{i}_{position} [label={quoted(text)}, {NOTHING}]"
        yield edge(f"n{i}", f"n{i}_{position}", index)


def saves_of(graph: Graph, node: Node, i: int) -> Iterator[str]:
    """Yield the tensors that a node saved, linked to it."""
    for position, (name, tensor) in enumerate(node_saves(node).items()):
        text = graph.names.saved(name, tensor)
        yield f"  s{i}_{position} [label={quoted(text)}, {SAVED}]"
        yield f"  n{i} -> s{i}_{position} [style=dashed, dir=none]"


def clusters_of(graph: Graph) -> Iterator[str]:
    """Yield a frame around each module's leaves: their names are equal up to the last dot."""
    modules: dict[str, list[int]] = {}
    for node, i in graph.number.items():
        variable = getattr(node, "variable", None)
        if variable is not None and "." in (name := graph.names.leaf(variable)):
            modules.setdefault(name.rpartition(".")[0], []).append(i)
    for number, (module, members) in enumerate(sorted(modules.items())):
        if len(members) > 1:
            leaves = "; ".join(f"n{i}" for i in members)
            yield f"  subgraph cluster_{number} {{ label={quoted(module)}; {CLUSTER}; {leaves} }}"


def edge(start: str, end: str, index: int) -> str:
    """Return an arrow with its output number."""
    return f'  {start} -> {end} [label=" {index}"]'


def quoted(text: str) -> str:
    """Return text as a string in Graphviz's language, escaped with backslashes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def draw(text: str) -> str:
    """Draw DOT text and return SVG text; see NOTE [Programs that draw].

    Raises `ImportError` without the Python package graphviz, and `RuntimeError` without a program
    that draws; each error says how to fix it.
    """
    if sys.platform == "emscripten":
        return draw_in_browser(text)
    try:
        import graphviz
    except ImportError:
        raise ImportError(NO_PACKAGE) from None
    try:
        return str(graphviz.Source(text).pipe(format="svg", encoding="utf-8"))
    except graphviz.ExecutableNotFound:
        raise RuntimeError(NO_PROGRAM) from None


def draw_in_browser(text: str) -> str:
    """Draw with the page's JavaScript function."""
    import js  # Pyodide's name for JavaScript's global object

    function = getattr(js, "minigradDrawDot", None)
    if function is None:
        raise RuntimeError(NO_FUNCTION)
    return str(function(text))
