"""The closures of unary_binary.py and general.py for arrays of a device, made at the first one.

The closures for NumPy hand over to `on_devices`.  Batches of `vmap` have a way of their own, and
work away from a device's default place is left to the generic function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import BACKENDS, Backend, numpy_backend
from ..op.declaration import Op

Function = Callable[..., Any]


def on_devices(op: type[Op], closure: Callable[[Backend, Function], Function], generic: Function,
               values_of: Callable[..., list[Any]],
               operands: Callable[..., Sequence[Any]] = lambda *args: args) -> Function:
    """Return the function that calls `closure(xp, generic)`, made once for each backend.

    `operands` picks the tensors and arrays from its arguments; the first says which backend.  With
    a batch among them the op runs on `values_of` its arguments, in `forward`'s order; nobody
    watches then.
    """
    made: dict[Backend, Function] = {}

    def fallback(*args: Any) -> Any:
        arrays = [getattr(operand, "_array", operand) for operand in operands(*args)]
        for array in arrays:
            xp = BACKENDS.get(type(array))
            if xp is not None and xp.run_op is not None:
                return xp.run_values(op, values_of(*args))
        xp = BACKENDS.get(type(arrays[0]))
        if xp is None or xp is numpy_backend or xp.place_of(arrays):
            return generic(*args)
        fast = made.get(xp)
        if fast is None:
            fast = made[xp] = closure(xp, generic)
        return fast(*args)

    return fallback


def beside_numbers_of_host(forward: Function) -> Function:
    """Let a forward take NumPy's 0-d arrays beside arrays of a device: as numbers."""

    def call(xp: Backend, *arrays: Any, **kwargs: Any) -> Any:
        return forward(xp, *[xp.number(a) if type(a) is np.ndarray and not a.ndim else a
                             for a in arrays], **kwargs)

    return call
