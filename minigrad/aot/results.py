"""Results of a program in separate memory, and views of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..op.apply import apply
from .buffers import roots_of
from .program import Step, Value
from .trace.record import Recorded

Array = Any


def viewed(tensor: Any, views: Sequence[Any]) -> Any:
    """Return the view of a tensor that some view ops lead to."""
    for op, arguments, index in views:
        made = apply(op, [tensor, *arguments])
        tensor = made if index is None else made[index]
    return tensor


def apart(results: Sequence[Value | None], steps: list[Step],
          private: Sequence[Value]) -> list[Value | None]:
    """Return results with a copy of each constant, and of each that shares memory.

    Results share memory if the function made them separately, but equal steps became one.  They may
    also share it with `private` values, which the program saves but eager mode does not.  Then a
    write to the result must be no error.
    """
    roots = roots_of(steps)
    seen = {id(roots.get(id(value), value)) for value in private}
    made: list[Value | None] = []
    for value in results:
        if value is not None:
            root = roots.get(id(value), value)
            if value.array is not None or id(root) in seen:
                value = copy_of(value, steps)
            seen.add(id(root))
        made.append(value)
    return made


def copy_of(value: Value, steps: list[Step], call: Any = None) -> Value:
    """Return the Value of a copy, made by a step at the end of `steps`."""
    made = Value(value.name + "_copy", value.shape, value.dtype, value.strides)
    steps.append(Step("copy", call or copied_with_strides, [value], [made]))
    return made


def densely_copied(xp: Any, array: Array) -> Array:
    """Return a copy without gaps or repeated elements, so that the engine may write to it."""
    return array.copy("K")


def copied_with_strides(xp: Any, array: Array) -> Array:
    """Return a copy with the same strides, which may skip memory, as every second row does."""
    dense = array.copy("K")
    if dense.strides == array.strides:
        return dense
    reach = sum((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True))
    memory = np.empty(max(0, reach) // array.itemsize + 1, array.dtype)
    made = np.ndarray(array.shape, array.dtype, memory, 0, array.strides)
    made[...] = array
    return made


def owned_gradients(recorded: Recorded, backward: list[Step]) -> list[Value | None]:
    """Return the gradients, with a copy of each that shares memory with anything else."""
    roots = roots_of(backward)
    fresh = {id(v) for step in backward if not step.view for v in step.outputs}
    gradients: list[Value | None] = []
    for value in recorded.gradients:
        if value is not None:
            root = id(roots.get(id(value), value))
            if root not in fresh or value.array is not None:
                value = copy_of(value, backward, densely_copied)
            fresh.discard(root)
        gradients.append(value)
    return gradients
