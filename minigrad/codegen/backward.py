"""Generates the method that does, for an op's nodes, what `GraphTask.evaluate` does for any node.

The method unpacks the saved values, runs the formula of each edge, frees the saved values and adds
each result to the gradient at the edge's end.  If a saved value needs special treatment, because it
has hooks, was converted, modified in place or freed, the method leaves the node to
`GraphTask.evaluate`, which also raises every error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..op.declaration import Op
from ..op.node import FREED, OpNode, is_gradient, is_output
from ..tensor.tensor import Tensor
from .numbers import Number
from .written import Text


def has_plain_formulas(op: type[Op]) -> bool:
    """Return whether an op's formulas need only `g` and saved values, and have no `shared`."""
    asked = {name for _, names in op.formulas.values() for name in names}
    return bool(op.formulas) and op.shared is None and not any(
        is_gradient(op, name) and name != "g" for name in asked)


class StepWriter:
    """The method of an op's nodes that is one step of a pass, on arrays or on tensors."""

    def __init__(self, op: type[Op], on_arrays: bool) -> None:
        self.op, self.on_arrays, self.node_type = op, on_arrays, op.node_type
        self.name = "step_on_arrays" if on_arrays else "step_on_tensors"

    def text(self) -> Text:
        """Return the source of the method and its global names."""
        where = self.op.__module__.replace(".", "/") + ".py"
        lines = [f"def {self.name}(node, task, g):",
                 f"    # Written from the formulas of `class {self.op.__name__}` in {where};",
                 "    # task.hand_back() leaves the node to GraphTask.evaluate", ""]
        for title, step in (
                ("Unpack the saved values, unless one was written to since", self.unpack),
                ("Run the formula of each edge that leads to a node that is needed",
                 self.formulas),
                ("Free the saved values", self.free),
                ("Add each result to the gradient of the node at the edge's end", self.route)):
            if written := ["    " + line for line in step()]:
                lines += [f"    # {title}", *written, ""]
        return Text("\n".join(lines[:-1]) + "\n", self.names())

    def names(self) -> dict[str, Any]:
        """Return the global names of the text."""
        formulas = {f"grad_{name}": formula for name, (formula, _) in self.op.formulas.items()}
        return formulas | {"Number": Number, "FREED": FREED, "rebuilt": rebuilt,
                           "ndarray": np.ndarray, "Tensor": Tensor}

    def unpack(self) -> Iterator[str]:
        """Generate the lines that take the saved values out of the node."""
        for name in self.node_type.saves:
            yield from self.unpack_output(name) if is_output(self.op, name) else (
                self.unpack_input(name))

    def unpack_output(self, name: str) -> Iterator[str]:
        """Generate the lines that take the op's saved result out of the node."""
        yield f"saved = node._value_{name}"
        yield "if type(saved) is not tuple or saved[2].value != saved[1]:"
        yield "    return task.hand_back(node, g)"
        yield f"{name} = saved[0]" if self.on_arrays else f"{name} = rebuilt(saved, node)"

    def unpack_input(self, name: str) -> Iterator[str]:
        """Generate the lines that take a saved input out of the node."""
        yield f"saved = node._value_{name}"
        yield "if type(saved) is tuple:"
        yield f"    {name}, version = saved"
        yield f"    counter = {name}._counter"
        yield "    if version != (0 if counter is None else counter.value):"
        yield "        return task.hand_back(node, g)"
        if self.on_arrays:
            yield f"    {name} = {name}._array"
        yield "elif saved is None:"
        yield f"    {name} = None"
        if self.op.parameters.index(name) in self.op.number_positions:
            yield "elif type(saved) is Number:"
            yield f"    {name} = saved.{'_array' if self.on_arrays else 'number'}"
        yield "else:"
        yield "    return task.hand_back(node, g)"

    def formulas(self) -> Iterator[str]:
        """Generate the call of each formula."""
        yield "needed = task.nodes_to_execute"
        for i, (name, (_, names)) in enumerate(self.op.formulas.items()):
            after = f"node.next{i}" if len(self.op.formulas) < 3 else f"node.edges[{i}][0]"
            yield f"{name}_end = {after}"
            yield f"{name}_needed = {name}_end is not None and (" \
                  f"needed is None or {name}_end in needed)"
            yield f"if {name}_needed:"
            yield f"    {name}_result = grad_{name}({', '.join(map(self.value, names))})"

    def free(self) -> Iterator[str]:
        """Generate the lines that free the saved values."""
        if self.node_type.saves:
            yield "if not task.retain_graph:"
        for name in self.node_type.saves:
            yield f"    if node._value_{name} is not None:"
            yield f"        node._value_{name} = FREED"

    def route(self) -> Iterator[str]:
        """Generate the lines that route each result; usually it is its node's first and fits."""
        yield "buffers = task.buffers"
        for i, name in enumerate(self.op.formulas):
            end, result = f"{name}_end", f"{name}_result"
            array, array_type = (result, "ndarray") if self.on_arrays else (
                f"{result}._array", "Tensor")
            yield f"if not {name}_needed:"
            yield "    pass"
            yield f"elif type({result}) is not {array_type} or {array}.dtype is not {end}.dtype " \
                  f"or ("
            yield f"        {array}.shape != {end}.shape or {end}.num_inputs > 1):"
            yield f"    task.route(node, {i}, {result}, g)"
            yield f"elif {end} in buffers:"
            yield f"    task.add({end}, {result}, {result} is not g)"
            yield "else:"
            yield f"    buffers[{end}] = {result}"
            if self.on_arrays:
                yield f"    if {result} is g:  # passed on, so the engine may not write to it"
                yield f"        task.borrowed.add({end})"

    def value(self, name: str) -> str:
        """Return the expression for a value that a formula asks for."""
        slot = self.node_type.arg_slots.get(name)  # type: ignore[attr-defined]  # an OpNode
        return name if slot is None else f"node.{slot}"


def rebuilt(note: Any, node: Any) -> Tensor:
    """Rebuild a saved result as a tensor that is connected to its node."""
    return OpNode.from_note(note).rebuild(note[0], node)
