# Stage 04a, Operators, element by element: the exercise for minigrad/engine/validate.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# Names of the package's inside are explained in docs/en/glossary.md.

"""Results of a node validated: as many as edges, in the shape and dtype of their receivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import shapes
from ..backend import BACKENDS
from ..dtypes import FROM_NUMPY
from ..graph.node import Node
from ..tensor.tensor import Tensor
from .input_buffer import Gradient, Value


def validate_outputs(node: Node, received: Sequence[Value | None],
                     results: Sequence[Value | None]) -> list[Gradient | None]:
    """Return the results of a node, one for each of its edges, as their receivers expect them.

    The engine owns an array that a formula computed for one receiver: neither one that it received
    and passed on, nor one that it returned twice; see NOTE [Who owns a gradient].
    """
    edges, held = node.edges, [*map(id, received), *map(id, results)]
    if len(results) != len(edges):
        raise wrong_number(node, results)
    gradients: list[Gradient | None] = [None] * len(edges)
    for position, (result, (target, index)) in enumerate(zip(results, edges, strict=True)):
        if result is not None:
            owned = not node.borrows_results and held.count(id(result)) == 1
            if target is not None:
                result = match_metadata(result, target, index, node, position)
            gradients[position] = Gradient(result, owned)
    return gradients


def wrong_number(node: Node, results: Sequence[Value | None]) -> RuntimeError:
    """Return the error for a node that did not give one result for each edge."""
    return RuntimeError(f"Function {node.name()} returned an invalid number of gradients - "
                        f"got {len(results)}, but expected {len(node.edges)}")


def match_metadata(grad: Value, target: Node, index: int, source: Node, position: int) -> Value:
    """Return `grad` in the shape and dtype that output `index` of the target's forward had.

    A broadcast input gets the sum over the copies that were made of it.
    """
    # 04a.3 A gradient made to fit (about 13 lines)
    # `match_metadata(grad, target, index, source, position)` returns `grad` as the node
    # `target` expects it for the output `index` of its forward:
    # `target.metadata_of(index)` gives that output's shape and dtype. `grad` is an array,
    # a number or a `Tensor`, whose array is `grad._array`; the result is of the same
    # kind. What is neither a Tensor nor of a type in BACKENDS is made an array with
    # `np.asarray`. If the shape is another, return the sum over copies (`sum_to`); but
    # `check_expandable(received, shape, source, position)` comes first: where the wanted
    # shape does not broadcast to what came, raise RuntimeError `Function NAME returned an
    # invalid gradient at index POSITION - got [4] but expected shape compatible with
    # [3]`. NAME is `source.name()`, POSITION is `position`, and both shapes are printed
    # as lists. If the dtype is another, cast with `converted(grad, dtype)`:
    # `astype(dtype)` of an array, `grad.to(FROM_NUMPY[dtype])` of a tensor; integers and
    # truth values are cast too.
    raise NotImplementedError("04a.3 A gradient made to fit is yours to write")


def converted(grad: Value, dtype: Any) -> Value:
    """Return a gradient in another array dtype."""
    # 04a.3 A gradient made to fit: see the task at `match_metadata`.
    raise NotImplementedError("04a.3 A gradient made to fit is yours to write")


def check_expandable(received: tuple[int, ...], shape: tuple[int, ...], source: Node,
                     position: int) -> None:
    """Raise unless a gradient is of a shape to which `shape` can be broadcast."""
    # 04a.3 A gradient made to fit: see the task at `match_metadata`.
    raise NotImplementedError("04a.3 A gradient made to fit is yours to write")


def sum_to(grad: Value, shape: tuple[int, ...]) -> Value:
    """Sum an array or tensor over the dimensions along which `shape` was broadcast.

    >>> import numpy as np
    >>> sum_to(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    # 04a.2 The adjoint of broadcasting (about 12 lines)
    # `sum_to(grad, shape)`: `grad` is a NumPy array or a `Tensor` and `shape` a tuple
    # that broadcasts to `grad.shape`. Return the sum of `grad` over all copies that
    # broadcasting made, in exactly the shape `shape`: over the dimensions that `grad` has
    # more, which are its first ones, and over those where `shape` has a one and `grad`
    # another size. An array gives an array; a tensor gives a tensor and stays in its
    # graph, so use its methods. `grad` itself is not changed. Arrays have `sum(dims,
    # keepdims=True)`, tensors `sum(dims, keepdim=True)`; both have `reshape(shape)`. Mind
    # that `Tensor.sum(())` sums everything.
    raise NotImplementedError("04a.2 The adjoint of broadcasting is yours to write")
