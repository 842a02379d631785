"""Generates the function that a formula calls for an op on bare arrays, which is its forward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..backend import Backend
from ..op.declaration import Op
from .forward import Writer
from .written import Text


class ArraysWriter(Writer):
    """The function of one op on arrays of one backend that need no promotion."""

    def __init__(self, op: type[Op], form: str, xp: Backend) -> None:
        super().__init__(op, "operator" if form != "steps" else form, xp)
        self.sets_errors = False  # formulas call it, within a pass that has set them

    def text(self, **others: Any) -> Text:
        """Return the source of the function and its global names."""
        lines = [f"def {self.op.name}({', '.join(self.arguments)}):"]
        for name in self.op.tensors:
            lines += ["    " + line for line in self.prepare_array(name)]
        if self.op.promote == "float":
            lines += [f"    if {self.first}.dtype not in floats:",
                      f"        {self.hand_to('taught')}"]
        lines += ["    " + line for line in self.forward()]
        source = "\n".join([*lines, "    return result"]) + "\n"
        return Text(source.replace("_array,", ",").replace("_array)", ")"), self.names() | others)

    def prepare_array(self, name: str) -> Iterator[str]:
        """Write the check of one operand."""
        unserved = f"type({name}) is not ndarray"
        if name in self.numbers:
            floats = "floats[:2]" if self.op.float32_scalars else "floats"
            yield f"if (type({name}) is float or type({name}) is int) and " \
                  f"{self.first}.dtype in {floats}:"
            yield f"    {name} = number({name}, {self.first}.dtype)._array"
        if name in self.optional and name not in self.promoted:
            unserved = f"{name} is not None and {unserved}"
        elif name in self.promoted and name != self.first:
            unserved += f" or {name}.dtype is not {self.first}.dtype"
        yield f"{'elif' if name in self.numbers else 'if'} {unserved}:"
        yield f"    {self.hand_to('elsewhere' if name == self.op.tensors[0] else 'taught')}"
