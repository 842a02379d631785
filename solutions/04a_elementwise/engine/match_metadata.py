# Stage 04a, Operators, element by element: the solution for minigrad/engine/match_metadata.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.

"""Gradients made to fit: in the shape and dtype of the tensor that they are for."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import shapes
from ..backend import BACKENDS
from ..dtypes import FROM_NUMPY
from ..graph.node import Node
from ..tensor.tensor import Tensor

Gradient = Any  # an array or a tensor, see NOTE [Arrays or tensors] in graph_task.py


def fit(grad: Gradient, target: Node, index: int, source: Node, position: int) -> Gradient:
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


def sum_to(grad: Gradient, shape: tuple[int, ...]) -> Gradient:
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
