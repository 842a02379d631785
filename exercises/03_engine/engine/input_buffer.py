# Stage 03, The engine: the exercise for minigrad/engine/input_buffer.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03
# docs/en/glossary.md explains the names used inside the package.

"""Buffers that add up a node's incoming gradients, and a record of who owns each gradient.

NOTE [Arrays or tensors]
    Without `create_graph`, gradients are bare arrays and the formulas run on arrays; only user
    code, in hooks and Functions, receives tensors.  With `create_graph`, gradients are tensors and
    grad mode is on, so the backward pass records a graph.  Gradients are also tensors inside
    forward mode, because their tangents have to pass through the backward formulas, and inside
    `vmap`, because a gradient may be batched where a saved value is not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _state
from ..backend import BACKENDS
from ..tensor.tensor import Tensor

Array = Any
Value = Any  # an array or a tensor, see NOTE [Arrays or tensors]


def on_tensors(create_graph: bool) -> bool:
    """Return whether gradients have to be tensors; see NOTE [Arrays or tensors]."""
    return create_graph or _state.randomness.get() != "" or (  # `vmap` sets `randomness`
        _state.observers.count > 0 and _state.transform.get() is not None)


class Gradient(NamedTuple):
    """A gradient, and whether the engine owns it; see NOTE [Who owns a gradient]."""

    value: Value
    owned: bool = False


class InputBuffer:
    """The gradients that have arrived for one node, one for each output of its forward."""

    __slots__ = ("grads", "owned")

    def __init__(self, size: int) -> None:
        self.grads: list[Value | None] = [None] * size
        self.owned = [False] * size  # whether the engine owns each gradient

    def add(self, index: int, gradient: Gradient) -> None:
        """Add a gradient for output `index`; write only to memory that the engine owns."""
        # 03.2 Gradients that meet (about 8 lines)
        # Several gradients may arrive for one output. Keep their sum in `self.grads[index]`,
        # and record in `self.owned[index]` whether the engine owns it.
        #   buffer.add(0, Gradient(a, False))   -> buffer.grads[0] is a, buffer.owned[0] is False
        #   then buffer.add(0, Gradient(b))     -> buffer.grads[0] equals a + b, buffer.owned[0] is True;
        #                                          a and b are unchanged
        # Mind:
        # - Never write to `grad` itself.
        # - Adding out of place is always right. In place, add only to an array that is owned
        #   and `writable`.
        # Use: `grad, owned = gradient`; `combine(current, grad)` adds out of place.
        raise NotImplementedError("03.2 Gradients that meet is yours to write")


def combine(current: Value, grad: Value) -> Value:
    """Return the sum of two gradients in new memory."""
    total = current + grad
    if type(total) in BACKENDS or isinstance(total, Tensor):
        return total
    return np.asarray(total)  # NumPy returns a scalar for the sum of two 0-d arrays


def writable(array: Array) -> bool:
    """Return whether an owned array can be added to in place, because it is no view."""
    return type(array) in BACKENDS and array.base is None
