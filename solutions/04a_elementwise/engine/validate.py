# Stage 04a, Operators, element by element: the solution for minigrad/engine/validate.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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

#: Results that are not arrays yet: NumPy gives a scalar where a 0-d array is meant.
NUMBERS = (np.generic, float, int)


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
    shape, dtype = target.metadata_of(index)
    if isinstance(grad, NUMBERS):
        grad = as_array(grad)
    if grad.shape != shape:
        if not shapes.is_expandable_to(shape, grad.shape):
            raise invalid_gradient(grad.shape, shape, source, position)
        grad = sum_to(grad, shape)
    return cast(grad, dtype)


def sum_to(grad: Value, shape: tuple[int, ...]) -> Value:
    """Sum an array or tensor over the copies that broadcasting `shape` made.

    >>> import numpy as np
    >>> sum_to(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    if not shape:
        return sum_all(grad)
    extra = len(grad.shape) - len(shape)
    ones = [i + extra for i, n in enumerate(shape) if n == 1 and grad.shape[i + extra] != 1]
    grad = sum_dims(grad, [*range(extra), *ones])
    return grad.reshape(shape) if extra else grad


def sum_all(grad: Value) -> Value:
    """Return the sum of all elements: of an array a 0-d array, of a tensor a 0-d tensor."""
    if isinstance(grad, Tensor):
        return grad.sum()
    return as_array(grad.sum(tuple(range(grad.ndim))))


def sum_dims(grad: Value, dims: Sequence[int]) -> Value:
    """Sum an array or tensor over `dims`, which stay with size one; without dims it is `grad`.

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
    """Return a gradient that is an array or a tensor; a NumPy scalar becomes a 0-d array."""
    return grad if isinstance(grad, Tensor) or type(grad) in BACKENDS else np.asarray(grad)


def cast(grad: Value, dtype: Any) -> Value:
    """Return a gradient, array or tensor, in a dtype of arrays; as it is where it has that."""
    if isinstance(grad, Tensor):
        return grad if grad._array.dtype == dtype else grad.to(FROM_NUMPY[dtype])
    return grad if grad.dtype == dtype else grad.astype(dtype)


def invalid_gradient(received: tuple[int, ...], shape: tuple[int, ...], source: Node,
                     position: int) -> RuntimeError:
    """Return the error for a result of `source` that is no sum of copies of `shape`."""
    return RuntimeError(
        f"Function {source.name()} returned an invalid gradient at index {position} - got "
        f"{list(received)} but expected shape compatible with {list(shape)}")
