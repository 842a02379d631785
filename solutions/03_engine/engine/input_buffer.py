# Stage 03, The engine: the solution for minigrad/engine/input_buffer.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.

"""Gradients on their way: each with its owner, and the buffers in which they add up.

NOTE [Arrays or tensors]
    Without `create_graph` gradients travel as bare arrays and the formulas run on them; hooks and
    Functions, which are the user's, get tensors made for them.  With `create_graph` gradients are
    tensors and grad mode is on, so the backward pass leaves a graph of its own.  They are tensors
    too inside forward mode, whose tangents go through the backward pass like through all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..backend import BACKENDS
from ..graph.node import Node
from ..tensor.tensor import Tensor

Array = Any
Value = Any  # an array or a tensor, see NOTE [Arrays or tensors]


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
            total = current + grad
            if type(total) not in BACKENDS and not isinstance(total, Tensor):
                total = np.asarray(total)  # NumPy adds arrays without dimensions to a number
            self.grads[index] = total
            self.owned[index] = not isinstance(grad, Tensor)


def writable(array: Array) -> bool:
    """Tell whether an owned array may be added to in place: it must have its memory to itself."""
    return type(array) in BACKENDS and array.base is None


def with_owner(node: Node, received: Sequence[Value | None],
               results: Sequence[Value | None]) -> list[Gradient | None]:
    """Return the results of a node as gradients that know who owns them.

    The engine owns an array that the node computed for one receiver: neither one that it received
    and passed on, nor one that it gave twice.
    """
    if node.borrows_results or (node.extras is not None and node.extras.post):
        return [None if result is None else Gradient(result) for result in results]
    held = (*map(id, received), *map(id, results))
    return [None if result is None else Gradient(result, held.count(id(result)) == 1)
            for result in results]
