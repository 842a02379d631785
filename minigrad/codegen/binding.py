"""Generates a function that does for one op what `bind` does for any: it orders the arguments.

The function handles calls by position whose arguments have types that `bind` accepts unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..op.declaration import Op
from ..tensor.tensor import Tensor
from .forward import ABSENT
from .written import Text


class BindingWriter:
    """Generates the function of an op with arguments besides its tensors, such as a dimension."""

    def __init__(self, op: type[Op], form: str) -> None:
        self.op, self.form = op, form
        self.given = op.parameters[:op.positional]
        self.plain = {name: argument_type.plain for _, name, argument_type in op.checked}

    def text(self, **others: Any) -> Text:
        """Return the source of the function and its global names."""
        op, given = self.op, ", ".join(self.given)
        operands = "".join(f"{name}=absent, " for name in self.given)
        lines = [f"def {op.name}({operands}/, *more, **named):",
                 f"    if {' or '.join(self.unserved())}:",
                 f"        return taught({given}, *more, **named)"]
        for name in self.given:
            if name in op.defaults:
                lines += [f"    if {name} is absent:", f"        {name} = default_{name}"]
        rest = ", ".join(n if n in self.given else f"default_{n}" for n in op.parameters)
        if self.form != "package" and self.given[0] in op.tensors:
            lines += [f"    if type({self.given[0]}) is ndarray:  # in a formula",
                      f"        return on_arrays({rest})"]
        lines += [f"    return steps({rest})"]
        return Text("\n".join(lines) + "\n", others | self.names())

    def names(self) -> dict[str, Any]:
        """Return the global names of the text."""
        steps: Any = self.op.written_out
        return {"absent": ABSENT, "Tensor": Tensor, "ndarray": np.ndarray, "steps": steps,
                "on_arrays": steps.on_arrays,
                **{f"default_{name}": value for name, value in self.op.defaults.items()},
                **{f"types_of_{name}": types for name, types in self.plain.items()}}

    def unserved(self) -> Iterator[str]:
        """Generate the conditions under which the taught `bind` has to handle the arguments."""
        yield from ("more", "named", "observers.count")
        if self.form != "package" or len(self.op.tensors) > 1:  # others have an exact type below
            yield "overriding.count"
        for name in self.given:
            optional = f"{name} is not absent and " if name in self.op.defaults else ""
            if name == self.op.varargs:
                yield f"{optional}type({name}) is not tuple"
            if name in self.plain:
                yield f"{optional}type({name}) not in types_of_{name}"
            elif name == self.given[0] and self.form == "package" and name in self.op.tensors:
                yield f"type({name}) is not Tensor"
            elif not optional and name != self.op.varargs:
                yield f"{name} is absent"
