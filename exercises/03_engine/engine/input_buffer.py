# Stage 03, The engine: the exercise for minigrad/engine/input_buffer.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03

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
        # 03.1 Gradients that meet. Add `gradient.value`, called `grad` here (an array, or a
        # Tensor in a pass that leaves a graph) to what has come for output `index` so far,
        # `self.grads[index]`: None before the first. A `Gradient` is a pair: `grad, owned =
        # gradient`. The first one is kept as it is, and `self.owned[index]` becomes `owned`.
        # A later one is added. Neither `grad` nor a borrowed array may ever be written to:
        # adding in place is allowed only to an array that is owned and `writable` (no view).
        # Adding out of place is always right. A sum that you made yourself of two arrays
        # belongs to the engine, so `self.owned[index]` may be True for it; a sum of Tensors
        # is never owned, and is made with `+`, so that it has both histories. NumPy adds two
        # arrays without dimensions to a number, which is no array: turn a total whose type is
        # not in BACKENDS, and that is no Tensor, back with np.asarray.
        raise NotImplementedError("03.1 Gradients that meet is yours to write")


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
