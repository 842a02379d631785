# Stage 04a, Operators, element by element: the solution for minigrad/engine/validate.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a copy of the package's module, which runs nowhere. Your answers are elsewhere.

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
    shape, dtype = target.metadata_of(index)
    array = grad._array if isinstance(grad, Tensor) else grad
    if type(array) not in BACKENDS:  # a NumPy scalar
        array = grad = np.asarray(array)
    if array.shape != shape:
        check_expandable(array.shape, shape, source, position)
        grad = sum_to(grad, shape)
    return grad if array.dtype == dtype else converted(grad, dtype)


def converted(grad: Value, dtype: Any) -> Value:
    """Return a gradient in another array dtype."""
    return grad.to(FROM_NUMPY[dtype]) if isinstance(grad, Tensor) else grad.astype(dtype)


def check_expandable(received: tuple[int, ...], shape: tuple[int, ...], source: Node,
                     position: int) -> None:
    """Raise unless a gradient is of a shape to which `shape` can be broadcast."""
    if received[1:] != shape and not shapes.is_expandable_to(shape, received):
        raise RuntimeError(
            f"Function {source.name()} returned an invalid gradient at index {position} - got "
            f"{list(received)} but expected shape compatible with {list(shape)}")


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
