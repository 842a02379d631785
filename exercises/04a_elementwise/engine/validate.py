# Stage 04a, Operators, element by element: the exercise for minigrad/engine/validate.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a

"""Results of a node validated: as many as edges, in the shape and dtype of their receivers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import shapes
from ..backend import BACKENDS
from ..dtypes import FROM_NUMPY
from ..graph.node import Node
from ..tensor.tensor import Tensor
from .input_buffer import Gradient, Value


def validate_outputs(node: Node, edges: Sequence[tuple[Node | None, int]],
                     results: Sequence[Gradient | None]) -> list[Gradient | None]:
    """Return the results of a node, one for each of its edges, as their receivers expect them."""
    if len(results) != len(edges):
        raise RuntimeError(f"Function {node.name()} returned an invalid number of gradients - "
                           f"got {len(results)}, but expected {len(edges)}")
    valid: list[Gradient | None] = []
    for position, (result, (target, index)) in enumerate(zip(results, edges, strict=True)):
        if result is not None and target is not None:
            value = match_metadata(result.value, target, index, node, position)
            result = Gradient(value, result.owned)
        valid.append(result)
    return valid


def match_metadata(grad: Value, target: Node, index: int, source: Node, position: int) -> Value:
    """Return `grad` in the shape and dtype that output `index` of the target's forward had.

    A broadcast input gets the sum over the copies that were made of it.
    """
    # 04a.3 A gradient made to fit. `match_metadata(grad, target, index, source,
    # position)` returns `grad` as the node `target` expects it for the output `index` of
    # its forward: `target.metadata_of(index)` gives that output's shape and dtype. `grad`
    # is an array, a number or a `Tensor`, whose array is `grad._array`; the result is of
    # the same kind. What is neither a Tensor nor of a type in BACKENDS is made an array
    # with `np.asarray`. If the shape is another, return the sum over copies (`sum_to`);
    # but where the wanted shape does not broadcast to what came, raise RuntimeError
    # `Function NAME returned an invalid gradient at index POSITION - got [4] but expected
    # shape compatible with [3]`. NAME is `source.name()`, POSITION is `position`, and
    # both shapes are printed as lists. If the dtype is another, cast: `astype(dtype)` of
    # an array, `grad.to(FROM_NUMPY[dtype])` of a tensor; integers and truth values are
    # cast too.
    raise NotImplementedError("04a.3 A gradient made to fit is yours to write")


def sum_to(grad: Value, shape: tuple[int, ...]) -> Value:
    """Sum an array or tensor over the dimensions along which `shape` was broadcast.

    >>> import numpy as np
    >>> sum_to(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    # 04a.2 The adjoint of broadcasting. `sum_to(grad, shape)`: `grad` is a NumPy array or
    # a `Tensor` and `shape` a tuple that broadcasts to `grad.shape`. Return the sum of
    # `grad` over all copies that broadcasting made, in exactly the shape `shape`: over
    # the dimensions that `grad` has more, which are its first ones, and over those where
    # `shape` has a one and `grad` another size. An array gives an array; a tensor gives a
    # tensor and stays in its graph, so use its methods. `grad` itself is not changed.
    # Arrays have `sum(dims, keepdims=True)`, tensors `sum(dims, keepdim=True)`; both have
    # `reshape(shape)`. Mind that `Tensor.sum(())` sums everything.
    raise NotImplementedError("04a.2 The adjoint of broadcasting is yours to write")
