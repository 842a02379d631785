"""The quicker way from an op on batched tensors to its batching rule, which `codegen/` takes.

The generic way prepares all arguments and then unwraps the batches among them.  Here they are
looked at in one go.  Only tensors that need no promotion, and numbers beside them, go this way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op.apply import run_op
from ..op.declaration import Op
from ..tensor.tensor import Tensor
from .array import BatchedArray
from .dispatch import Call, run_rule

#: The dtypes that numbers beside a tensor, and ops whose results are floats, leave as they are.
FLOATS = tuple(np.dtype(name) for name in ("float32", "float64"))


def run_values(op: type[Op], values: list[Any]) -> Any:
    """Run an op on arguments in `forward`'s order, one of them a batch, with fewer steps.

    It serves tensors that need no promotion, and numbers beside them; the rest, and each error, is
    left to `op.apply.run_op`, which prepares the arguments first.
    """
    call = plain_call(op, values)
    return run_op(op, values) if call is None else run_rule(call, True)


def plain_call(op: type[Op], values: list[Any]) -> Call | None:
    """Return the call of an op on tensors of one dtype and numbers, or None for any others."""
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
