# Stage 08b, Forward mode and batches: the exercise for minigrad/autograd/forward_ad/jacobian.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08b
# docs/en/glossary.md explains the names used inside the package.

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
    # 08b.7 All columns in one run (about 11 lines)
    # `columns_along` computes the derivatives of all outputs along all `directions`, but
    # runs `func` only once. `column_block` turns the columns in `part` into one input's
    # block of the jacobian. `hessian` computes one of its two derivatives in forward mode
    # and the other in reverse mode.
    #   columns_along(lambda x: x * x, [x], [rows]), x = (2, 3)      -> (x * x, [columns]):
    #     rows [[1, 0], [0, 1]]                                      -> columns [[4, 0], [0, 6]]
    #   column_block(levels, columns (6, 3), slice(2, 6), (2, 2))    -> shape (3, 2, 2), of rows 2 to 5
    #   the same, columns (6, 5, 3), levels of a batch of 5          -> (5, 3, 2, 2), wrapped
    #   hessian(lambda x: x[0] ** 2 * x[1] + x[1] ** 3)((1, 2))      -> [[4, 2], [2, 12]]
    # Mind:
    # - Tangents live only as long as their level.
    # - `func` may return one output or several.
    # Use: `jvp_level`, `checked_dual`, `rows_of`; section 9 of the lesson says what they
    # do.
    raise NotImplementedError("08b.7 All columns in one run is yours to write")


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
