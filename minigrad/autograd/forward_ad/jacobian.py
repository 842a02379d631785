"""Whole jacobians by forward mode: the function runs once, with a batch of tangents.

The batch holds a unit vector for each element of each input, so the tangents of an output are the
columns of its jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...backend import backend_of
from ...batching import batched, examples, next_level
from ...device import place_on
from ...op.declaration import F
from ...tensor.tensor import Tensor
from .dual_tensors import checked_dual, jvp_level
from .pushforward import as_sequence

Tensors = tuple[Tensor, ...]


def columns_by_forward_mode(func: Callable[..., Any], inputs: Tensors) -> tuple[Any, list[Tensors]]:
    """Return `func(*inputs)` and the jacobian of each output with respect to each input.

    A jacobian has the shape `output.shape + input.shape`.

    >>> from minigrad import tensor
    >>> columns_by_forward_mode(lambda x: x * x, (tensor([1.0, 2.0]),))
    (tensor([1., 4.]), [(tensor([[2., 0.],
            [0., 4.]]),)])
    """
    sizes = [x.numel() for x in inputs]
    outputs, found = columns_along(func, inputs, unit_tangents(inputs, sizes))
    blocks = []
    for columns in found:
        last = (*range(1, columns.dim()), 0)
        blocks.append(tuple(
            part.permute(last).reshape((*columns.shape[1:], *x.shape))
            for part, x in zip(columns.split_with_sizes(sizes), inputs, strict=True)))
    return outputs, blocks


def columns_along(func: Callable[..., Any], inputs: Sequence[Tensor],
                  directions: Sequence[Tensor]) -> tuple[Any, list[Tensor]]:
    """Return `func(*inputs)` and the derivative of each output along each row of `directions`.

    `directions` holds one tensor for each input, with one direction per row. `func` runs once.

    >>> from minigrad import tensor
    >>> columns_along(lambda x: x * x, [tensor(3.0)], [tensor([1.0, 10.0])])
    (tensor(9.), [tensor([ 6., 60.])])
    """
    batch_level = next_level()
    with jvp_level() as level:
        duals = [checked_dual(level, x, batched(rows, batch_level))
                 for x, rows in zip(inputs, directions, strict=True)]
        outputs = func(*duals)
        columns = [rows_of(level.tangent(output), output, batch_level, len(directions[0]))
                   for output in as_sequence(outputs)]
    return outputs, columns


def rows_of(tangent: Tensor | None, output: Tensor, batch_level: int, count: int) -> Tensor:
    """Return the tangent of an output as `count` rows, repeating it if it is not batched.

    A tangent of `None` counts as zeros.
    """
    rows: Tensor | None = None if tangent is None else examples(tangent, batch_level)
    if rows is None:
        rows = F.zeros_like(output) if tangent is None else tangent
        rows = rows.expand((count, *output.shape))
    return rows


def unit_tangents(inputs: Tensors, sizes: Sequence[int]) -> list[Tensor]:
    """Return each input's tangents: unit vectors in its own rows, zeros in the other rows."""
    made, start = [], 0
    for x, size in zip(inputs, sizes, strict=True):
        with place_on(x._array):
            units = backend_of(x._array).zeros((sum(sizes), size), x._array.dtype)
            units.reshape(-1)[start * size : (start + size) * size : size + 1] = 1
        made.append(Tensor._plain(units.reshape((sum(sizes), *x.shape))))
        start += size
    return made
