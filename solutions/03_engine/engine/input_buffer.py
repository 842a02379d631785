# Stage 03, The engine: the solution for minigrad/engine/input_buffer.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Gradients on their way: each with its owner, and the buffers in which they add up.

NOTE [Arrays or tensors]
    Without `create_graph` gradients travel as bare arrays and the formulas run on them; hooks and
    Functions, which are the user's, get tensors made for them.  With `create_graph` gradients are
    tensors and grad mode is on, so the backward pass leaves a graph of its own.  They are tensors
    too inside forward mode, whose tangents go through the backward pass like through all else, and
    inside `vmap`, where a formula's gradient may be a batch and what it saved may not.
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
    """Tell whether gradients are to be tensors here; see NOTE [Arrays or tensors]."""
    return create_graph or _state.randomness.get() != "" or (  # which `vmap` sets
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
        self.owned = [False] * size  # of each gradient, whether the engine owns it

    def add(self, index: int, gradient: Gradient) -> None:
        """Add a gradient for output `index`; writes only to memory that the engine owns."""
        grad, owned = gradient
        current = self.grads[index]
        if current is None:
            self.grads[index], self.owned[index] = grad, owned
        elif self.owned[index] and type(current) is type(grad) and writable(current):
            current += grad
        else:
            self.grads[index], self.owned[index] = combine(current, grad), True


def combine(current: Value, grad: Value) -> Value:
    """Return the sum of two gradients in memory of its own."""
    total = current + grad
    if type(total) in BACKENDS or isinstance(total, Tensor):
        return total
    return np.asarray(total)  # NumPy adds arrays without dimensions to a number


def writable(array: Array) -> bool:
    """Tell whether an owned array may be added to in place: it must have its memory to itself."""
    return type(array) in BACKENDS and array.base is None
