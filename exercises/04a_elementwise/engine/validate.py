# Stage 04a, Operators, element by element: the exercise for minigrad/engine/validate.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# docs/en/glossary.md explains the names used inside the package.

"""Validating a node's results: one per edge, in the shape and dtype that the receiver expects."""

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

#: Types of results that are not arrays yet, because NumPy returns scalars instead of 0-d arrays.
NUMBERS = (np.generic, float, int)


def validate_outputs(node: Node, received: Sequence[Value | None],
                     results: Sequence[Value | None]) -> list[Gradient | None]:
    """Return a node's results, one per edge, in the form that each receiver expects.

    The engine owns a result that the formula computed for this receiver alone, as opposed to one
    that it only passed on or returned for two edges; see NOTE [Who owns a gradient].
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
    """Return the error for a node that did not return one result per edge."""
    return RuntimeError(f"Function {node.name()} returned an invalid number of gradients - "
                        f"got {len(results)}, but expected {len(node.edges)}")


def match_metadata(grad: Value, target: Node, index: int, source: Node, position: int) -> Value:
    """Return `grad` in the shape and dtype of output `index` of the target's forward.

    If that output was broadcast, its gradient is summed over the broadcast dimensions.
    """
    # 04a.3 Gradients in the right shape and dtype (about 11 lines)
    # `is_expandable_to` returns whether `shape` broadcasts to exactly `target`.
    # `match_metadata` returns a gradient in the shape and dtype of output `index` of the
    # forward of `target`.
    #   is_expandable_to((3, 1), (2, 3, 4))  -> True;   ((3,), (1,)) and ((2, 3), (3,)) -> False
    #   wanted (3,), float32; got (2, 3), float64      -> summed to (3,), float32
    #   wanted (3,); got (4,)                          -> raises invalid_gradient((4,), (3,), ...)
    # Mind:
    # - A NumPy scalar or a plain number becomes an array.
    # - The error names `source` and `position`.
    # Use: `target.metadata_of(index)`, a shape and a dtype; `as_array`, `sum_to`,
    # `cast(grad, dtype)`, `invalid_gradient`.
    raise NotImplementedError("04a.3 Gradients in the right shape and dtype is yours to write")


def sum_to(grad: Value, shape: tuple[int, ...]) -> Value:
    """Sum an array or tensor over the dimensions along which `shape` was broadcast.

    >>> import numpy as np
    >>> sum_to(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    # 04a.2 The adjoint of broadcasting (about 6 lines)
    # Sum `grad`, an array or a Tensor, over all copies that broadcasting made of `shape`.
    # The result has exactly this shape.
    #   grad = [[1, 2, 3], [10, 20, 30]]
    #   shape (3,)      -> [11, 22, 33]
    #   shape (2, 1)    -> [[6], [60]]
    #   shape ()        -> 66
    #   shape (2, 3)    -> grad
    # Mind:
    # - An array gives an array, even if it's 0-d. A Tensor stays in its graph.
    # - Don't change `grad` itself.
    # Use: `sum_dims(grad, dims)` and `sum_all(grad)`, given below; `grad.reshape(shape)`.
    raise NotImplementedError("04a.2 The adjoint of broadcasting is yours to write")


def sum_all(grad: Value) -> Value:
    """Return the sum of all elements, as a 0-d array or a 0-d tensor."""
    if isinstance(grad, Tensor):
        return grad.sum()
    return as_array(grad.sum(tuple(range(grad.ndim))))


def sum_dims(grad: Value, dims: Sequence[int]) -> Value:
    """Sum an array or tensor over `dims` and keep them with size one; no-op if `dims` is empty.

    >>> import numpy as np
    >>> sum_dims(np.ones((2, 3)), [0])
    array([[2., 2., 2.]])
    """
    if not dims:
        return grad
    if isinstance(grad, Tensor):
        return grad.sum(tuple(dims), keepdim=True)
    return grad.sum(tuple(dims), keepdims=True)


def as_array(grad: Value) -> Value:
    """Return a gradient as it is if it is an array or a tensor, and a scalar as a 0-d array."""
    return grad if isinstance(grad, Tensor) or type(grad) in BACKENDS else np.asarray(grad)


def cast(grad: Value, dtype: Any) -> Value:
    """Convert a gradient, array or tensor, to a dtype of arrays; no-op if it has it already."""
    if isinstance(grad, Tensor):
        return grad if grad._array.dtype == dtype else grad.to(FROM_NUMPY[dtype])
    return grad if grad.dtype == dtype else grad.astype(dtype)


def invalid_gradient(received: tuple[int, ...], shape: tuple[int, ...], source: Node,
                     position: int) -> RuntimeError:
    """Return the error for a result of `source` that cannot be reduced to `shape`."""
    return RuntimeError(
        f"Function {source.name()} returned an invalid gradient at index {position} - got "
        f"{list(received)} but expected shape compatible with {list(shape)}")
