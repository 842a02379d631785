# Stage 08b, Forward mode and batches: the exercise for minigrad/func/jacobians.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08b
# docs/en/glossary.md explains the names used inside the package.

"""Jacobians and Hessians of functions: `jacrev`, `jacfwd`, `hessian`.

Source: https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import _state
from .._state import having
from ..autograd.forward_ad.jacobian import columns_along
from ..autograd.functional.passes import units_of
from ..op.declaration import F
from ..shapes import numel
from ..tensor.tensor import Tensor
from .levels import VmapLevels
from .transforms import (
    ArgNums,
    Derivation,
    Function,
    chosen,
    floating_only,
    outside_inference,
    parted,
    replaced,
    tensors_only,
)
from .tree import leaves_of, rebuilt
from .vmap import check_randomness

__all__ = ["hessian", "jacfwd", "jacrev"]


def with_examples(units: Tensor, levels: VmapLevels) -> Tensor:
    """Expand unit vectors (rows first) to the batch dimensions of the active levels."""
    for size in reversed(levels.sizes):
        units = F.expand(F.unsqueeze(units, 1), (units.shape[0], size, *units.shape[1:]))
    return units


def units_for(tensors: Sequence[Tensor], levels: VmapLevels) -> list[Tensor]:
    """Return the unit vectors for one example of batched values, expanded to the batches."""
    return [with_examples(u, levels) for u in units_of(tensors, levels.count)]


def jacrev(func: Function, argnums: ArgNums = 0, *, has_aux: bool = False,
           chunk_size: int | None = None) -> Function:
    """Return a function that computes the Jacobian of `func` in reverse mode.

    One batched backward pass computes all rows, or `chunk_size` rows at a time.  Each block has the
    shape `output.shape + input.shape`; the result is nested by outputs, then by inputs.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jacrev.html

    >>> from minigrad import tensor
    >>> jacrev(lambda x: x * x)(tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @outside_inference
    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        derivation = Derivation(chosen(argnums, args))
        levels = derivation.levels
        inputs = replaced(argnums, args, derivation.arguments())
        output, aux = parted(derivation.call(func, *inputs, **kwargs), has_aux,
                             "jacrev(f)(*args)")
        outputs = [levels.of(t) for t in tensors_only(output, "vjp(f, *primals)")]
        floating_only(output)
        keep = derivation.keeps_graph(outputs)
        units = units_for(outputs, levels)
        rows = in_chunks(units, chunk_size, lambda batch: derivation.pull(
            outputs, batch, keep, is_batched=True))
        blocks, start = [], 0
        for out in outputs:
            shape = tuple(out.shape[levels.count :])
            stop = start + numel(shape)
            blocks.append(rebuilt(derivation.tree, [
                block(levels, row, slice(start, stop), shape, x.shape[levels.count :], x)
                for row, x in zip(rows, derivation.copies, strict=True)]))
            start = stop
        result = rebuilt(output, blocks)
        return (result, derivation.finished(aux, keep)) if has_aux else result

    return derivative


def in_chunks(
    units: list[Tensor], chunk_size: int | None, run: Callable[[list[Tensor]], Any]
) -> Any:
    """Run a pass on chunks of the unit vectors and concatenate the results."""
    total = units[0].shape[0] if units else 0
    if not total or chunk_size is None or chunk_size >= total:
        return run(units)
    parts = [run([u[i : i + chunk_size] for u in units]) for i in range(0, total, chunk_size)]
    return [None if column[0] is None else F.cat(list(column))
            for column in zip(*parts, strict=True)]


def block(levels: VmapLevels, rows: Tensor | None, part: slice, first: Any, second: Any,
          like: Tensor) -> Tensor:
    """Return some rows as a block of the Jacobian, of shape `first + second` for each example."""
    shape = (*levels.sizes, *first, *second)
    if rows is None:
        return levels.example(F.zeros(shape, dtype=like.dtype))
    if part != slice(0, rows.shape[0]):
        rows = rows[part]
    return levels.example(F.reshape(F.movedim(rows, 0, levels.count), shape))


def jacfwd(func: Function, argnums: ArgNums = 0, has_aux: bool = False, *,
           randomness: str = "error") -> Function:
    """Return a function that computes the Jacobian of `func` in forward mode.

    One run of the function computes all columns.  `randomness` is the same as for `vmap`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jacfwd.html

    >>> from minigrad import tensor
    >>> jacfwd(lambda x: x * x)(tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @outside_inference
    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        levels, tree = VmapLevels(), chosen(argnums, args)
        inputs = [levels.of(leaf) for leaf in leaves_of(tree)]
        output = aux = None

        def run(*duals: Tensor) -> list[Tensor]:
            nonlocal output, aux
            primals = replaced(argnums, args, rebuilt(tree, [levels.example(d) for d in duals]))
            output, aux = parted(func(*primals, **kwargs), has_aux, "jacfwd(f)(*args)")
            return [levels.of(t) for t in tensors_only(output, "jvp(f, primals, tangents)")]

        check_randomness(randomness)
        with having(_state.randomness, randomness):
            _, columns = columns_along(run, inputs, units_for(inputs, levels))
        blocks = []
        for column in columns:
            row, start = [], 0
            for x in inputs:
                of_input = tuple(x.shape[levels.count :])
                stop = start + numel(of_input)
                row.append(column_block(levels, column, slice(start, stop), of_input))
                start = stop
            blocks.append(rebuilt(tree, row))
        result = rebuilt(output, blocks)
        return (result, aux) if has_aux else result

    return derivative


def column_block(levels: VmapLevels, columns: Tensor, part: slice,
                 of_input: tuple[int, ...]) -> Tensor:
    """Return one input's columns as a block of the Jacobian, with the output dimensions first.

    `columns` has a row for each column of the Jacobian; `part` selects the rows for the input, of
    shape `of_input`.
    """
    # 08b.7 All columns in one run (about 11 lines)
    # How do you get the derivatives along all `directions` if `columns_along` may run
    # `func` only once? How does `column_block` turn the columns in `part` into one
    # input's block of the jacobian? And which composition of `jacfwd` and `jacrev` is
    # `hessian`? It must use both, in either order.
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


def hessian(func: Function, argnums: ArgNums = 0) -> Function:
    """Return a function that computes the Hessian of `func`, its second derivatives.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.hessian.html

    >>> from minigrad import tensor
    >>> hessian(lambda x: (x**3).sum())(tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    # 08b.7 All columns in one run: see the task at `column_block`.
    raise NotImplementedError("08b.7 All columns in one run is yours to write")
