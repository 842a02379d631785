"""Draw the graph that a short program leaves behind, and call its nodes by hand.

    minigrad python --mine 02 graph_of.py
    minigrad python --mine 02 graph_of.py "c = a + b; c * c"      a, b and c are leaves: 2, 3, 5
"""

from __future__ import annotations

import argparse
import ast
from typing import Any

import minigrad as torch

#: Two programs with one value, and not one graph.
PROGRAMS = ("(a + b) * (a + b)", "c = a + b; c * c")


def result_of(program: str, leaves: dict[str, Any]) -> Any:
    """Run the statements of a program, which `;` separates, and return its last expression."""
    tree = ast.parse(program.replace(";", "\n").replace("\n ", "\n"))
    last = tree.body.pop() if tree.body else None
    if not isinstance(last, ast.Expr):
        raise SystemExit(f"{program!r} does not end in an expression, such as `a * b`")
    names = {"torch": torch, **leaves}
    exec(compile(tree, "<program>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<program>", "eval"), names)


def drawn(root: Any, leaves: dict[str, Any]) -> list[str]:
    """Return a line for each edge, the node it leads to indented below the node it comes from."""
    lines: list[str] = []
    numbers: dict[Any, int] = {}
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        known = node in numbers
        number = numbers.setdefault(node, len(numbers) + 1)
        leaf = next((f" of {name}" for name, each in leaves.items()
                     if getattr(node, "variable", None) is each), "")
        lines.append(f"{'    ' * depth}{number}. {node.name()}{leaf}{' (again)' * known}")
        if not known:
            waiting += [(after, depth + 1) for after, _ in reversed(node.next_functions)
                        if after is not None]
    return [*lines, f"{len(numbers)} nodes, {len(lines) - 1} edges"]


def main() -> None:
    """Draw each program's graph, then fill the leaves."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("program", nargs="*", default=PROGRAMS,
                        help="statements with `;` between them; a, b and c are 2, 3 and 5")
    for program in parser.parse_args().program:
        leaves = {name: torch.tensor(value, requires_grad=True)
                  for name, value in (("a", 2.0), ("b", 3.0), ("c", 5.0))}
        result = result_of(program, leaves)
        if not isinstance(result, torch.Tensor) or result.grad_fn is None:
            raise SystemExit(f"{program!r} has no graph: none of a, b and c is in it")
        print(program, "=", result.tolist())
        print("\n".join(drawn(result.grad_fn, leaves)))
        result.sum().backward()
        slopes = [f"{name} {leaf.grad.item():g}" for name, leaf in leaves.items()
                  if leaf.grad is not None]
        print("slopes:", ", ".join(slopes), end="\n\n")


if __name__ == "__main__":
    main()
