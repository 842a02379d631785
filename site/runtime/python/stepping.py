"""A program's backward pass as the engine itself makes it, for the stepper's figure.

The figure (`site/widgets/stepper.js`) draws what `traced` returns in the same way as its own small
model.  `minigrad` is imported at each call: it is the package's or, below `own.py`, the reader's.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import math
from typing import Any

__all__ = ["traced"]

MOST_NODES = 40
LONGEST = 16
NOTE = "__noted__"
FUNCTIONS = ("exp", "log", "tanh", "sin", "cos", "sqrt", "sigmoid", "relu")
KINDS = {"pop": "run", "write": "write", "arrive": "arrive", "hook": "hook", "end": "end",
         "error": "error"}


class _Noting(ast.NodeTransformer):
    """Hands every value that an expression makes to a function, with its line."""

    def visit(self, node: ast.AST) -> ast.AST:
        made: ast.AST = self.generic_visit(node)
        if not isinstance(made, (ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Attribute)) \
                or not isinstance(getattr(made, "ctx", ast.Load()), ast.Load):
            return made
        noted = ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(made.lineno - 1), made], [])
        return ast.fix_missing_locations(ast.copy_location(noted, made))


def _free_names(tree: ast.Module, known: dict[str, Any]) -> list[str]:
    """Return the names that are read before they are set, in that order."""
    found: list[str] = []
    have = {*known, *dir(builtins)}
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.FunctionDef):
                have.add(node.name)
            elif isinstance(node, ast.alias):
                have.add((node.asname or node.name).partition(".")[0])
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        found += [node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset))
                  if isinstance(node.ctx, ast.Load) and node.id not in have | set(found)]
        have |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        have |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    return found


def leaves_of(tree: ast.Module, known: dict[str, Any], given: dict[str, float]) -> dict[str, Any]:
    """Return a tensor that requires grad for each name that a program reads before it sets it."""
    torch = importlib.import_module("minigrad")
    return {name: torch.tensor(float(given.get(name, 1.0)), dtype=torch.float64,
                               requires_grad=True) for name in _free_names(tree, known)}


def traced(program: str, leaves: dict[str, float]) -> dict[str, Any]:
    """Return the graph and the steps of a program's backward pass, as plain data.

    Names that the program reads before it sets them are leaves; `leaves` has their numbers, and
    one that it lacks is 1.
    """
    torch, viz = importlib.import_module("minigrad"), importlib.import_module("minigrad.viz")
    value_of = importlib.import_module("minigrad.viz.values").value_of
    tree = ast.parse(program)
    if not tree.body or not isinstance(tree.body[-1], (ast.Expr, ast.Assign)):
        raise ValueError("the last line is to be an expression, or name = expression")
    names: dict[str, Any] = {name: getattr(torch, name) for name in FUNCTIONS} | {"torch": torch}
    made = leaves_of(tree, names, leaves)
    seen: dict[int, tuple[int, Any]] = {}

    def note(row: int, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.grad_fn is not None:
            seen.setdefault(value.grad_fn._sequence_nr(), (row, value_of(value)))
        return value

    names |= made | {NOTE: note}
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(
            ast.Assign([ast.Name("__result__", ast.Store())], last.value), last)
    tree = ast.fix_missing_locations(_Noting().visit(tree))
    exec(compile(tree, "<stepper>", "exec"), names)
    result = names.get("__result__")
    if isinstance(last, ast.Assign):
        target = last.targets[0]
        result = names.get(target.id) if isinstance(target, ast.Name) else None
    if not isinstance(result, torch.Tensor) or result.grad_fn is None:
        raise ValueError("the last line is to give a tensor that requires grad")
    tensors = {name: value for name, value in names.items()
               if isinstance(value, torch.Tensor) and name != "__result__"}
    passed = viz.backward_steps(result, names=tensors, limit=MOST_NODES)
    return _Told(passed, seen, tensors, value_of).as_json()


class _Told:
    """A recorded pass with the numbers and names that the figure uses."""

    def __init__(self, passed: Any, seen: dict[int, tuple[int, Any]], leaves: dict[str, Any],
                 value_of: Any) -> None:
        self.passed, self.seen, self.leaves, self.value_of = passed, seen, leaves, value_of
        views = passed.nodes
        self.order: list[int] = []  # as they are made: a leaf just before its first use
        for view in sorted((each for each in views if each.role == "op"),
                           key=lambda each: each.sequence):
            inputs = [edge.target for edge in view.edges if edge.target is not None]
            self.order += [each for each in dict.fromkeys(inputs)
                           if views[each].role == "leaf" and each not in self.order]
            self.order.append(view.number)
        self.number = {old: new for new, old in enumerate(self.order)}

    def as_json(self) -> dict[str, Any]:
        views = [self.passed.nodes[old] for old in self.order]
        nodes = [self._leaf(view) if view.role == "leaf" else self._op(view) for view in views]
        for place in reversed(range(len(nodes) - 1)):  # what has no line has that of its user
            if nodes[place]["row"] is None:
                nodes[place]["row"] = nodes[place + 1]["row"]
        edges = [{"from": self.number[edge.target], "to": place, "place": at}
                 for place, view in enumerate(views) for at, edge in enumerate(view.edges)
                 if edge.target is not None]
        empty = {"queue": [], "waits": {}, "buffers": {}, "grads": {}, "done": [], "visits": 0}
        steps: list[dict[str, Any]] = [
            {"kind": "made", "node": place, "edge": None, "value": None, "made": place + 1, **empty}
            for place in range(len(nodes))]
        return {"nodes": nodes, "edges": edges, "steps": steps + self._steps(edges)}

    def _leaf(self, view: Any) -> dict[str, Any]:
        leaf = self.leaves.get(view.called)
        return {"kind": "leaf", "name": view.called or None, "title": view.called or "a leaf",
                "row": None, "value": short(None if leaf is None else self.value_of(leaf))}

    def _op(self, view: Any) -> dict[str, Any]:
        row, value = self.seen.get(view.sequence, (None, None))
        title = f"{view.called} · {view.name}" if view.called else view.name
        return {"kind": "op", "name": view.called or None, "title": title, "row": row,
                "value": short(value)}

    def _steps(self, edges: list[dict[str, Any]]) -> list[dict[str, Any]]:
        views, all_steps = self.passed.nodes, self.passed.steps
        (root,) = (view.number for view in views if view.role == "root")
        found, count = [], all_steps[0]
        for step in all_steps:
            if step.node == root:
                if step.event == "arrive":  # now the engine has counted, and has its first gradient
                    found.append(self._step("count", count.text, step, None, edges))
            elif step.event in KINDS and not (
                    step.event == "pop" and views[step.node].role == "leaf"):
                found.append(self._step(KINDS[step.event], step.text, step, step.node, edges))
        return found

    def _step(self, kind: str, text: str, step: Any, node: int | None,
              edges: list[dict[str, Any]]) -> dict[str, Any]:
        number, views = self.number, self.passed.nodes
        here = None if node is None else number[node]
        edge = None if kind != "arrive" else next(
            place for place, each in enumerate(edges)
            if each["to"] == here and each["place"] == step.edge)
        value = step.given[0] if kind == "run" and step.given else step.value
        ran = [*step.done, *([node] if node is not None and node not in step.done else [])]
        return {
            "kind": kind, "text": text, "node": here, "edge": edge, "value": short(value),
            "made": len(number), "queue": [number[each] for each in step.queue if each in number],
            "waits": {number[each]: count for each, count in step.waiting.items()
                      if each in number},
            "buffers": {number[each]: short(next(filter(None, buffer), None))
                        for each, buffer in step.buffers.items() if each in number},
            "grads": {number[each]: short(grad) for (each, _), grad in step.grads.items()
                      if grad is not None and each in number},
            "done": [number[each] for each in step.done if each in number],
            "visits": sum(views[each].role == "op" for each in ran)}


def short(value: Any) -> float | str | None:
    """Return a recorded value as a number, as short text, or as its shape."""
    if value is None:
        return None
    if value.shape == ():
        number = float(value.text)
        return number if math.isfinite(number) else value.text  # JSON has no inf
    text: str = value.text
    return text if len(text) <= LONGEST else f"shape {value.shape}"
