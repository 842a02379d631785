"""The program of the home page, run on minigrad (`site/widgets/live_graph.js`)."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import math
from typing import Any

from stepping import FUNCTIONS, leaves_of

__all__ = ["ran"]

#: The page shows no more of what a program prints, or of one tensor.
MOST = 2000
RESULT = "__result__"


def ran(program: str, leaves: dict[str, float]) -> dict[str, Any]:
    """Return what a program prints, and its result and gradients by name.

    Names that the program reads before it sets them are leaves; `leaves` has their numbers, and
    one that it lacks is 1. If the last line gives a number that requires grad and the program does
    not call `backward`, the backward pass begins there.
    """
    torch = importlib.import_module("minigrad")
    tree = ast.parse(program, "<your program>")
    names: dict[str, Any] = {name: getattr(torch, name) for name in FUNCTIONS} | {"torch": torch}
    made = leaves_of(tree, names, leaves)
    names |= made
    label = _name_of_result(tree)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.fix_missing_locations(tree), "<your program>", "exec"), names)
    result = names.get(RESULT, names.get(label))
    made = {name: leaf for name, leaf in made.items() if names[name] is leaf}
    if isinstance(result, torch.Tensor) and result.requires_grad and result.numel() == 1 \
            and all(leaf.grad is None for leaf in made.values()):
        result.backward()
    values = {} if result is None else {label: result}
    if isinstance(result, torch.Tensor) or any(leaf.grad is not None for leaf in made.values()):
        values |= {f"{name}.grad": made[name].grad for name in sorted(made)}
    return {"printed": printed.getvalue()[:MOST],
            "values": [(name, _shown(value)) for name, value in values.items()]}


def _name_of_result(tree: ast.Module) -> str:
    """Return what the last line's value is called; the value of an expression is kept in RESULT."""
    match tree.body[-1:]:
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "backward")))]:
            return name
        case [ast.Expr(value)]:
            kept = ast.Assign([ast.Name(RESULT, ast.Store())], value)
            tree.body[-1] = ast.copy_location(kept, tree.body[-1])
            return ast.unparse(value)
        case [ast.Assign([ast.Name(name)])]:
            return name
    return ""


def _shown(value: Any) -> float | str:
    """Return a number as it is, and any other value as text."""
    if hasattr(value, "numel"):
        value = value.item() if value.numel() == 1 else value.detach()
    if isinstance(value, (int, float)) and math.isfinite(value):  # JSON has no inf
        return float(value)
    return repr(value)[:MOST]
