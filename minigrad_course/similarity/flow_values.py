"""The values of an answer, and the keys by which they are compared."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..content.source import Function

__all__ = ["Value", "flat"]


class Value:
    """A value: its kind, and the values that flow into it."""

    __slots__ = ("code", "inputs", "kind", "names", "shapes")

    def __init__(self, kind: str, inputs: Iterable[Value] = ()) -> None:
        self.kind, self.inputs = kind, list(inputs)
        self.shapes: dict[int, str] = {}
        self.code: Function | ast.Lambda | None = None  # of an own function
        self.names: dict[str, Value] = {}  # that its code can read

    def shape(self, reach: int) -> str:
        """Return the kind and what flows in, `reach` operations back."""
        found = self.shapes.get(reach)
        if found is None:
            self.shapes[reach] = self.kind  # of a value that flows into itself
            found = self._shape(reach)
            self.shapes[reach] = found
        return found

    def _shape(self, reach: int) -> str:
        if self.kind == "either":
            values = {each.shape(reach) for each in flat(self)}
            return values.pop() if len(values) == 1 else f"either({'|'.join(sorted(values))})"
        if reach == 0 or not self.inputs:
            return self.kind
        parts = [each.shape(reach - 1) for each in self.inputs]
        if self.kind.startswith(("=", "+")):  # the sides of == and of + can be exchanged
            parts.sort()
        return f"{self.kind}({','.join(parts)})"


def flat(node: Value, seen: set[int] | None = None) -> list[Value]:
    """Return the values that a choice leads to, without choices among them."""
    seen = set() if seen is None else seen
    if id(node) in seen:
        return []
    seen.add(id(node))
    if node.kind != "either":
        return [node]
    return [each for one in node.inputs for each in flat(one, seen)]
