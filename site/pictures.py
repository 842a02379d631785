"""Pictures of the graphs that a lesson prints: the lesson is run, and Graphviz draws them."""

from __future__ import annotations

import ast
import contextlib
import contextvars
import io
import shutil
from collections.abc import Sequence
from typing import Any

__all__ = ["pictures", "prints_a_graph"]


def prints_a_graph(source: str) -> bool:
    """Whether a block prints a graph as text: `print(graph(...))` or `print(viz.graph(...))`.

    >>> prints_a_graph("y = x * 2\\nprint(viz.graph(y))"), prints_a_graph("print(graph)")
    (True, False)
    """
    return _graph_call(source) is not None


def pictures(sources: Sequence[str]) -> list[str]:
    """Run a lesson's blocks and return the SVG of each graph printed; [] without Graphviz."""
    wanted = [number for number, source in enumerate(sources) if prints_a_graph(source)]
    if not wanted or shutil.which("dot") is None:
        return []
    return contextvars.Context().run(_draw, sources[: wanted[-1] + 1])


def _draw(sources: Sequence[str]) -> list[str]:
    names: dict[str, Any] = {"__name__": "__main__"}
    drawn = []
    with contextlib.redirect_stdout(io.StringIO()):
        for source in sources:
            with contextlib.suppress(Exception):  # some blocks are there to raise
                exec(compile(source, "<lesson>", "exec"), names)
            call = _graph_call(source)
            if call is not None:
                drawn.append(eval(ast.unparse(call), names).svg())
    return drawn


def _graph_call(source: str) -> ast.Call | None:
    for each in ast.walk(ast.parse(source)):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) \
                and each.func.id == "print" and each.args and isinstance(each.args[0], ast.Call):
            function = each.args[0].func
            if "graph" in (getattr(function, "id", None), getattr(function, "attr", None)):
                return each.args[0]
    return None
