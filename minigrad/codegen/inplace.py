"""Writes the operator in place of an op, such as `+=`, where the write is not recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..op.declaration import Op
from .forward import Writer, takes_tensors_alone


def writes_in_place(op: type[Op]) -> bool:
    """Tell whether an operator in place can be written: two operands, and a forward that writes."""
    return (op.inplace and op.inplace_op is None and op.forward_inplace is not None
            and len(op.tensors) == 2 and takes_tensors_alone(op) and "elementwise" in op.kinds)


class InplaceWriter(Writer):
    """The operator in place of one op for the arrays of one backend."""

    def steps(self) -> tuple[tuple[str, Any], ...]:
        """Return the title of each step and the method that writes it."""
        return (("Prepare", self.prepare), ("Leave to others what is recorded, or needs a closer "
                "look", self.check), ("Write, and count it first: an interrupt is possible at any "
                "line", self.write))

    def names(self) -> dict[str, Any]:
        """Return the global names of the text."""
        return super().names() | {"forward_inplace": self.op.forward_inplace,
                                  "may_share_memory": np.may_share_memory}

    def check(self) -> Iterator[str]:
        """Write the conditions under which a write needs no record."""
        target, other = self.op.tensors
        yield f"if grad_enabled() and ({target}.requires_grad or {other}._requires_grad or (" \
              f"{other}._view is not None and {other}.requires_grad)):"
        yield f"    {self.hand_to('taught')}"
        yield f"counter = {target}._counter or {target}._shared_counter()"
        yield f"if type(counter) is not Version or {target}_array.dtype not in floats[:2]:"
        yield f"    {self.hand_to('taught')}"
        yield f"if type({other}) is not Number and (" \
              f"({other}_array.ndim and {other}_array.shape != {target}_array.shape) or " \
              f"may_share_memory({target}_array, {other}_array)):"
        yield f"    {self.hand_to('taught')}"
        yield f"if {target}_array.ndim and 0 in {target}_array.strides:"
        yield f"    {self.hand_to('taught')}"

    def write(self) -> Iterator[str]:
        """Write the write."""
        arguments = []
        for name in self.op.parameters:
            shown = f"{name}_array" if name in self.op.tensors else self.value(name)
            arguments.append(f"{name}={shown}" if name in self.op.keyword_only else shown)
        yield "counter.value += 1"
        yield "try:"
        yield f"    forward_inplace(backend, {', '.join(arguments)})"
        yield "except Exception:"
        yield "    counter.value -= 1"
        yield f"    {self.hand_to('taught')}"
        yield f"return {self.op.tensors[0]}"
