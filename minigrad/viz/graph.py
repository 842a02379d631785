"""A recorded graph that you can print as a tree or draw as a picture."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from ..graph.node import Node
from ..tensor.tensor import Tensor
from .dot import dot_text, draw
from .names import GivenNames, Names, shape_text
from .walk import as_list, node_saves, root_nodes, walk


class Graph:
    """The graph of one or several tensors, ready to draw; `print` shows the tree.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> graph = Graph((x * 3).exp(), {"x": x}, shapes=True); print(graph.tree())
    result (2,)
    └0─ ExpBackward #... (2,)
       └0─ MulBackward0 #... (2,)
          ├0─ AccumulateGrad x (2,)
          └0─ None
    >>> graph.label(graph.nodes[-1]), graph.dot.splitlines()[0]
    ('AccumulateGrad x (2,)', 'digraph minigrad {')
    >>> Graph((x * 3).exp(), limit=2).note
    'only the 2 nodes nearest to the result are shown; limit= shows more'
    """

    def __init__(
        self,
        tensors: Tensor | Iterable[Tensor],
        names: GivenNames | None = None,
        *,
        saved: bool = False,
        shapes: bool = False,
        limit: int = 200,
    ) -> None:
        results = as_list(tensors)
        self.roots = list(zip(results, root_nodes(results), strict=True))
        self.names = Names(names)
        self.saved = saved
        self.shapes = shapes
        self.limit = limit
        reached = list(islice(walk([node for _, node in self.roots]), limit + 1))
        self.nodes = reached[:limit]
        self.complete = len(reached) <= limit
        self.number = {node: i for i, node in enumerate(self.nodes)}

    @property
    def note(self) -> str:
        """A line about omitted nodes, or an empty string."""
        if self.complete:
            return ""
        return f"only the {self.limit} nodes nearest to the result are shown; limit= shows more"

    def label(self, node: Node) -> str:
        """Return a node's text: its name, its number and the name of its result."""
        text = self.names.label(node)
        if not self.shapes or hasattr(node, "variable"):
            return text
        sizes = (tuple(node.metadata_of(index)[0]) for index in range(node.num_inputs))
        return " ".join([text, *map(str, sizes)])

    # ---------------------------------------------------------------- as a picture

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language."""
        return dot_text(self)

    def svg(self, path: str | Path | None = None) -> str:
        """Draw the graph with Graphviz and return the SVG text; also write it to `path`.

        Raises `ImportError` without the Python package graphviz, and `RuntimeError` without the
        program `dot`, or in a browser without viz-js; each error says how to fix it.

        >>> from minigrad import tensor
        >>> graph = Graph(tensor(2.0, requires_grad=True) * 3)
        >>> try:
        ...     picture = graph.svg()
        ... except (ImportError, RuntimeError):  # there is no Graphviz
        ...     picture = "<svg"
        >>> "<svg" in picture
        True
        """
        text = draw(self.dot)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def _repr_svg_(self) -> str | None:
        """Return the picture for a notebook; without Graphviz the notebook shows the tree."""
        try:
            return self.svg()
        except (ImportError, RuntimeError):
            return None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the tree, the DOT text and the picture for a notebook."""
        svg = self._repr_svg_()
        picture = {} if svg is None else {"image/svg+xml": svg}
        return {"text/plain": self.tree(), "text/vnd.graphviz": self.dot, **picture}

    # ---------------------------------------------------------------- as text

    def tree(self) -> str:
        """Return the graph as indented text; a repeated node is marked and not expanded again."""
        lines: list[str] = []
        unfolded: set[Node] = set()
        for tensor, root in self.roots:
            lines.append(f"{self.names.result(tensor)} {shape_text(tensor)}")
            pending: list[tuple[Any, int, str, bool]] = [(root, tensor.output_nr, "", True)]
            while pending:
                node, index, indent, last = pending.pop()
                again = node in unfolded
                lines.append(f"{indent}{'└' if last else '├'}{index}─ {self._line(node, again)}")
                if again or node not in self.number:
                    continue
                indent += "   " if last else "│  "
                successors = node.next_functions
                if successors:
                    unfolded.add(node)
                if self.saved:
                    bar = "│" if successors else " "
                    lines += [
                        f"{indent}{bar}  {self.names.saved(name, kept)}"
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
        if node not in self.number:
            return "…"
        return self.label(node) + (" (see above)" if again else "")

    def __repr__(self) -> str:
        return self.tree()


def graph(
    tensors: Tensor | Iterable[Tensor],
    names: GivenNames | None = None,
    *,
    saved: bool = False,
    shapes: bool = False,
    limit: int = 200,
) -> Graph:
    """Return the graph of one or several tensors; print it, or draw it with `.svg(path)`.

    `names` gives names to leaves and intermediate results (`model.named_parameters()`, or
    `locals()`; other values are ignored). Parameters of one module are framed together. `saved`
    adds the tensors that nodes save for their formulas, and `shapes` the shapes of results. In a
    large graph, only the `limit` nodes nearest to the result are drawn.  Raises `ValueError` for a
    tensor that does not require grad.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> print(graph((x * 3).sum(), {"x": x}).tree())  # doctest: +ELLIPSIS
    result ()
    └0─ SumBackward0 #...
       └0─ MulBackward0 #...
          ├0─ AccumulateGrad x (2,)
          └0─ None
    """
    return Graph(tensors, names, saved=saved, shapes=shapes, limit=limit)
