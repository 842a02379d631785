"""Generates the in-place operator of an op, such as `+=`, for writes that are not recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dtypes import INTEGER_RANGES
from ..op.declaration import Op
from .forward import Writer, takes_tensors_alone


def writes_in_place(op: type[Op]) -> bool:
    """Return whether an in-place operator can be generated: for two operands, without history."""
    return (op.inplace and op.inplace_op is None and op.forward_inplace is not None
            and len(op.tensors) == 2 and takes_tensors_alone(op) and "elementwise" in op.kinds)


class InplaceWriter(Writer):
    """Generates the in-place operator of one op for the arrays of one backend."""

    def steps(self) -> tuple[tuple[str, Any], ...]:
        """Return the title of each step and the method that generates it."""
        return (("Prepare", self.prepare),
                ("Pass recorded writes and special cases to the taught function", self.check),
                ("Write, and count it first, because Ctrl-C may interrupt at any line", self.write))

    def names(self) -> dict[str, Any]:
        """Return the global names of the text."""
        return super().names() | {
            "INTEGER_RANGES": INTEGER_RANGES, "forward_inplace": self.op.forward_inplace,
            "may_share_memory": np.may_share_memory}

    def check(self) -> Iterator[str]:
        """Generate the conditions under which the write is not recorded."""
        target, other = self.op.tensors
        yield f"if grad_enabled() and ({target}.requires_grad or {other}._requires_grad or (" \
              f"{other}._view is not None and {other}.requires_grad)):"
        yield f"    {self.hand_to('taught')}"
        yield f"counter = {target}._counter or {target}._shared_counter()"
        wrong_dtype = f"{target}_array.dtype not in floats[:2]"
        if self.op.promote == "result":
            wrong_dtype = f"({wrong_dtype} and {target}_array.dtype not in INTEGER_RANGES)"
        yield f"if type(counter) is not Version or {wrong_dtype}:"
        yield f"    {self.hand_to('taught')}"
        yield f"if type({other}) is not Number and (" \
              f"({other}_array.ndim and {other}_array.shape != {target}_array.shape) or " \
              f"may_share_memory({target}_array, {other}_array)):"
        yield f"    {self.hand_to('taught')}"
        yield f"if {target}_array.ndim and 0 in {target}_array.strides:"
        yield f"    {self.hand_to('taught')}"

    def write(self) -> Iterator[str]:
        """Generate the in-place write."""
        arguments = []
        for name in self.op.parameters:
            shown = f"{name}_array" if name in self.op.tensors else self.value(name)
            arguments.append(f"{name}={shown}" if name in self.op.keyword_only else shown)
        yield "counter.value += 1"
        yield "before = set_float_errors(IGNORED)"
        yield "try:"
        yield f"    forward_inplace(backend, {', '.join(arguments)})"
        yield "except Exception:"
        yield "    counter.value -= 1"
        yield f"    {self.hand_to('taught')}"
        yield "finally:"
        yield "    reset_float_errors(before)"
        yield f"return {self.op.tensors[0]}"
