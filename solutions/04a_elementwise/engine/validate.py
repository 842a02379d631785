# Stage 04a, Operators, element by element: the solution for minigrad/engine/validate.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.

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
    shape, dtype = target.metadata_of(index)
    array = grad._array if isinstance(grad, Tensor) else grad
    if type(array) not in BACKENDS:
        array = grad = np.asarray(array)
    if array.shape != shape:
        if array.shape[1:] != shape and not shapes.is_expandable_to(shape, array.shape):
            raise RuntimeError(
                f"Function {source.name()} returned an invalid gradient at index {position} - got "
                f"{list(array.shape)} but expected shape compatible with {list(shape)}")
        grad = sum_to(grad, shape)
        array = grad._array if isinstance(grad, Tensor) else grad
    if array.dtype != dtype:
        if isinstance(grad, Tensor):
            grad = grad.to(FROM_NUMPY[dtype])
        else:
            grad = grad.astype(dtype)
    return grad


def sum_to(grad: Value, shape: tuple[int, ...]) -> Value:
    """Sum an array or tensor over the dimensions along which `shape` was broadcast.

    >>> import numpy as np
    >>> sum_to(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    extra = len(grad.shape) - len(shape)
    if not shape:
        total = grad.sum() if isinstance(grad, Tensor) else grad.sum(tuple(range(extra)))
        return np.asarray(total) if isinstance(total, np.generic) else total
    dims = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if n == 1 and grad.shape[i + extra] != 1
    )
    if dims and isinstance(grad, Tensor):
        grad = grad.sum(dims, keepdim=True)
    elif dims:
        grad = grad.sum(dims, keepdims=True)
    return grad.reshape(shape) if extra else grad
