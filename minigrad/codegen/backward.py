"""Writes how a node of an op runs its formulas: what `OpNode.run` does, straight down.

A node whose saved values need a closer look (one has hooks, was converted, was written to since
or is gone) is left to `OpNode.run`, which also raises every error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..op.declaration import Op
from ..op.node import FREED, OpNode, is_gradient, is_output
from ..tensor.tensor import Tensor
from .numbers import Number
from .written import Text


def has_plain_formulas(op: type[Op]) -> bool:
    """Tell whether the formulas of an op ask for `g` and for what was saved, one at a time."""
    asked = {name for _, names in op.formulas.values() for name in names}
    return bool(op.formulas) and op.shared is None and not any(
        is_gradient(op, name) and name != "g" for name in asked)


class NodeWriter:
    """The method of an op's nodes that runs the formulas, on arrays or on tensors."""

    def __init__(self, op: type[Op], on_arrays: bool) -> None:
        self.op, self.on_arrays, self.node_type = op, on_arrays, op.node_type
        self.name = "apply_arrays" if on_arrays else "apply_needed_tensors"

    def text(self) -> Text:
        """Return the source of the method and what its names stand for."""
        lines = [f"def {self.name}(node, grads, needed):", "    (g,) = grads", "    if g is None:",
                 f"        {self.to_run()}"]
        if self.node_type.saves:
            lines += ["", "    # Unpack, unless a value was written to since it was saved"]
        for name in self.node_type.saves:
            lines += ["    " + line for line in self.unpack(name)]
        lines += ["", "    # Run the formula of each edge that leads to a node that is needed"]
        lines += ["    " + line for line in self.formulas()]
        return Text("\n".join(lines) + "\n", self.names())

    def names(self) -> dict[str, Any]:
        """Return what the names in the text stand for."""
        formulas = {f"grad_{name}": formula for name, (formula, _) in self.op.formulas.items()}
        return formulas | {"Number": Number, "rebuilt": rebuilt}

    def to_run(self) -> str:
        """Return the line that leaves the node to `OpNode.run`."""
        return f"return node.run(grads, needed, arrays={self.on_arrays})"

    def unpack(self, name: str) -> Iterator[str]:
        """Write how a saved value is taken out of the node."""
        yield f"saved = node._value_{name}"
        if is_output(self.op, name):
            yield "if type(saved) is not tuple or saved[2].value != saved[1]:"
            yield f"    {self.to_run()}"
            yield f"{name} = saved[0]" if self.on_arrays else f"{name} = rebuilt(saved, node)"
            return
        yield "if type(saved) is tuple:"
        yield f"    {name}, version = saved"
        yield f"    counter = {name}._counter"
        yield "    if version != (0 if counter is None else counter.value):"
        yield f"        {self.to_run()}"
        if self.on_arrays:
            yield f"    {name} = {name}._array"
        yield "elif saved is None:"
        yield f"    {name} = None"
        if self.op.parameters.index(name) in self.op.number_positions:
            yield "elif type(saved) is Number:"
            yield f"    {name} = saved.{'_array' if self.on_arrays else 'number'}"
        yield "else:"
        yield f"    {self.to_run()}"

    def formulas(self) -> Iterator[str]:
        """Write the calls of the formulas."""
        calls = [f"grad_{edge}({', '.join(map(self.value, names))})"
                 for edge, (_, names) in self.op.formulas.items()]
        yield f"results = [{', '.join(['None'] * len(calls))}]"
        for i, call in enumerate(calls):
            after = f"node.next{i}" if len(calls) < 3 else f"node.edges[{i}][0]"
            yield f"after = {after}"
            yield "if after is not None and (needed is None or after in needed):"
            yield f"    results[{i}] = {call}"
        yield "return results"

    def value(self, name: str) -> str:
        """Return how the text calls what a formula asks for."""
        slot = self.node_type.arg_slots.get(name)  # type: ignore[attr-defined]  # an OpNode
        return name if slot is None else f"node.{slot}"


def rebuilt(note: Any, node: Any) -> Tensor:
    """Return a saved result as a tensor, with its place in the graph."""
    return OpNode.from_note(note).rebuild(note[0], node)


class ReleaseWriter(NodeWriter):
    """The method of an op's nodes that frees what they saved."""

    name = "release"

    def text(self) -> Text:
        """Return the source of the method and what its names stand for."""
        lines = ["def release(node):"]
        for name in self.node_type.saves:
            lines += [f"    if node._value_{name} is not None:",
                      f"        node._value_{name} = FREED"]
        return Text("\n".join(lines or ["    pass"]) + "\n", {"FREED": FREED})
