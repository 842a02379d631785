"""A fast path from an op on batched tensors to its batching rule, used by generated code.

The generic path prepares all arguments and then unwraps the batches among them.  This one does both
in a single loop, but only for tensors that need no type promotion and for plain numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op.apply import run_op
from ..op.declaration import Op
from ..tensor.tensor import Tensor
from .array import BatchedArray
from .dispatch import Call, run_rule

#: Dtypes that stay unchanged if the other operand is a number, or if the op returns floats.
FLOATS = tuple(np.dtype(name) for name in ("float32", "float64"))


def run_values(op: type[Op], values: list[Any]) -> Any:
    """Run an op on arguments in `forward`'s order, at least one of them batched, on the fast path.

    If the tensors need promotion or an argument is invalid, falls back to `op.apply.run_op`, which
    prepares the arguments first.
    """
    call = plain_call(op, values)
    return run_op(op, values) if call is None else run_rule(call, True)


def plain_call(op: type[Op], values: list[Any]) -> Call | None:
    """Return the call of an op on numbers and on tensors of a single dtype, or `None`."""
    if op.list_position is not None:
        return None
    for i in op.plain_positions:
        if isinstance(values[i], Tensor):
            return None
    promoted = op.promoted_positions if op.promote else ()
    tensors: list[tuple[int, Tensor]] = []
    dtype, numbers, level = None, False, 0
    for i in op.tensor_positions:
        value = values[i]
        if isinstance(value, Tensor):
            array = value._array
            if i in promoted:
                if dtype is not None and dtype is not array.dtype:
                    return None
                dtype = array.dtype
            if type(array) is BatchedArray and array.level > level:
                level = array.level
            tensors.append((i, value))
        elif type(value) in (float, int) and i in op.number_positions:
            numbers = True
        elif value is not None or i not in op.optional_positions or i in promoted:
            return None
    if promoted and (numbers or op.promote == "float") and dtype not in FLOATS:
        return None
    arguments = dict(zip(op.parameters, values, strict=True))
    inside, size = set(), 0
    for i, value in tensors:
        array = value._array
        if type(array) is BatchedArray and array.level == level:
            held = array.value
            if not isinstance(held, Tensor):
                held = Tensor._plain(held)
            name = op.parameters[i]
            inside.add(name)
            arguments[name], size = held, held._array.shape[0]
    return Call(op, arguments, inside, size, level)
