"""A recorded graph as a picture (through Graphviz) or as a plain-text tree.

Arrows point the way the gradients go: from the result to the leaves. The number on an arrow is
the second half of a `next_functions` pair: which output of the operation the gradient belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ..graph import Node
from ..tensor import Tensor
from .walk import as_list, is_tensor, node_saves, root_nodes, walk

NO_PACKAGE = (
    "pictures need the Python package graphviz, which the extra 'tour' brings: "
    "pip install -e '.[tour]'"
)
NO_PROGRAM = (
    "pictures need the program dot, which is part of Graphviz: apt install graphviz (Debian, "
    "Ubuntu), brew install graphviz (macOS), or see https://graphviz.org/download/"
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


class Graph:
    """The nodes behind one or several tensors, ready to be drawn; `print` shows the tree."""

    def __init__(
        self,
        tensors: Tensor | Iterable[Tensor],
        names: Mapping[str, Any] | None = None,
        *,
        saved: bool = False,
        limit: int = 200,
    ) -> None:
        results = as_list(tensors)
        self.roots = list(zip(results, root_nodes(results), strict=True))
        self.saved = saved
        self.limit = limit
        reached = list(islice(walk([node for _, node in self.roots]), limit + 1))
        self.nodes = reached[:limit]
        self.complete = len(reached) <= limit
        self._number = {node: i for i, node in enumerate(self.nodes)}
        self._leaf_names: dict[int, str] = {}
        self._names: dict[tuple[Node, int], str] = {}
        for name, tensor in (names or {}).items():
            if is_tensor(tensor):
                if tensor.grad_fn is None:
                    self._leaf_names.setdefault(id(tensor), name)
                else:
                    self._names.setdefault((tensor.grad_fn, tensor.output_nr), name)

    @property
    def note(self) -> str:
        """One line on what is left out; empty when nothing is."""
        if self.complete:
            return ""
        return f"only the {self.limit} nodes nearest to the result are shown; limit= shows more"

    # ---------------------------------------------------------------- what things are called

    def label(self, node: Node) -> str:
        """Return a node's text: its name, number and what its result was called."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            own = self._leaf_names.get(id(variable)) or variable.name or ""
            return " ".join(filter(None, (node.name(), own, shape_text(variable))))
        called = [name for (other, _), name in self._names.items() if other is node]
        return " ".join([node.name(), f"#{node._sequence_nr()}", *(f"= {n}" for n in called)])

    def result_name(self, tensor: Tensor) -> str:
        """Return what a result was called, or "result"."""
        if tensor.grad_fn is None:
            return self._leaf_names.get(id(tensor), "result")
        return self._names.get((tensor.grad_fn, tensor.output_nr), "result")

    # ---------------------------------------------------------------- as a picture

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language."""
        lines = [HEADER]
        for i, (tensor, root) in enumerate(self.roots):
            text = f"{self.result_name(tensor)} {shape_text(tensor)}"
            lines.append(f"  r{i} [label={quoted(text)}, {RESULT}]")
            if root in self._number:
                lines.append(dot_edge(f"r{i}", f"n{self._number[root]}", tensor.output_nr))
        for node, i in self._number.items():
            style = f", {LEAF}" if getattr(node, "variable", None) is not None else ""
            lines.append(f"  n{i} [label={quoted(self.label(node))}{style}]")
            lines += self._dot_saves(node, i) if self.saved else []
            lines += self._dot_edges(node, i)
        if self.note:
            lines.append(f"  label={quoted(self.note)}; fontname=Helvetica; fontsize=10")
        return "\n".join([*lines, "}", ""])

    def _dot_edges(self, node: Node, i: int) -> list[str]:
        lines = []
        for position, (successor, index) in enumerate(node.next_functions):
            if successor in self._number:
                lines.append(dot_edge(f"n{i}", f"n{self._number[successor]}", index))
                continue
            name = f"n{i}_{position}"
            text = "None" if successor is None else "…"
            lines.append(f"  {name} [label={quoted(text)}, {NOTHING}]")
            lines.append(dot_edge(f"n{i}", name, index))
        return lines

    def _dot_saves(self, node: Node, i: int) -> list[str]:
        lines = []
        for position, (name, tensor) in enumerate(node_saves(node).items()):
            lines.append(f"  s{i}_{position} [label={quoted(saved_text(name, tensor))}, {SAVED}]")
            lines.append(f"  n{i} -> s{i}_{position} [style=dashed, dir=none]")
        return lines

    def svg(self, path: str | Path | None = None) -> str:
        """Draw the graph with Graphviz and return the SVG text, which `path` gets too.

        Raises `ImportError` without the Python package graphviz and `RuntimeError` without the
        program `dot`; each says what to install.
        """
        try:
            import graphviz
        except ImportError:
            raise ImportError(NO_PACKAGE) from None
        try:
            text = str(graphviz.Source(self.dot).pipe(format="svg", encoding="utf-8"))
        except graphviz.ExecutableNotFound:
            raise RuntimeError(NO_PROGRAM) from None
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def _repr_svg_(self) -> str | None:
        """Show the picture in a notebook; without Graphviz the notebook falls back on the tree."""
        try:
            return self.svg()
        except (ImportError, RuntimeError):
            return None

    # ---------------------------------------------------------------- as text

    def tree(self) -> str:
        """Return the graph as indented text; a node met again is marked and not unfolded again."""
        lines: list[str] = []
        unfolded: set[Node] = set()
        for tensor, root in self.roots:
            lines.append(f"{self.result_name(tensor)} {shape_text(tensor)}")
            pending: list[tuple[Any, int, str, bool]] = [(root, tensor.output_nr, "", True)]
            while pending:
                node, index, indent, last = pending.pop()
                again = node in unfolded
                lines.append(f"{indent}{'└' if last else '├'}{index}─ {self._line(node, again)}")
                if again or node not in self._number:
                    continue
                indent += "   " if last else "│  "
                successors = node.next_functions
                if successors:
                    unfolded.add(node)
                if self.saved:
                    bar = "│" if successors else " "
                    lines += [
                        f"{indent}{bar}  {saved_text(name, kept)}"
                        for name, kept in node_saves(node).items()
                    ]
                final = len(successors) - 1
                pending += [
                    (successor, number, indent, i == final)
                    for i, (successor, number) in reversed(list(enumerate(successors)))
                ]
        return "\n".join([*lines, f"({self.note})"] if self.note else lines)

    def _line(self, node: Node | None, again: bool) -> str:
        if node is None:
            return "None"
        if node not in self._number:
            return "…"
        return self.label(node) + (" (see above)" if again else "")

    def __repr__(self) -> str:
        return self.tree()


def graph(
    tensors: Tensor | Iterable[Tensor],
    names: Mapping[str, Any] | None = None,
    *,
    saved: bool = False,
    limit: int = 200,
) -> Graph:
    """Return the graph behind one tensor or several, to be printed, or drawn with `.svg(path)`.

    `names` gives leaves and intermediate results their names (`dict(model.named_parameters())`,
    or `locals()`: what is no tensor is left alone); `saved` adds the tensors that nodes keep for
    their formulas; of a large graph only the `limit` nodes nearest to the result are drawn.
    Raises `ValueError` for a tensor that requires no gradient.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> print(graph((x * 3).sum(), {"x": x}).tree())  # doctest: +ELLIPSIS
    result ()
    └0─ SumBackward0 #...
       └0─ MulBackward0 #...
          ├0─ AccumulateGrad x (2,)
          └0─ None
    """
    return Graph(tensors, names, saved=saved, limit=limit)


def shape_text(tensor: Tensor) -> str:
    """Return a shape as a plain tuple."""
    return str(tuple(tensor.shape))


def saved_text(name: str, tensor: Tensor | None) -> str:
    """Return one line on a saved tensor."""
    if tensor is None:
        return f"saved {name}: freed"
    return f"saved {name} {shape_text(tensor)} {str(tensor.dtype).removeprefix('torch.')}"


def dot_edge(start: str, end: str, index: int) -> str:
    """Return an arrow with its output number."""
    return f'  {start} -> {end} [label=" {index}"]'


def quoted(text: str) -> str:
    """Return text as a string of Graphviz's language, in which a backslash escapes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
