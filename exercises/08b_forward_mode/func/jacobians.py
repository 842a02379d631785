# Stage 08b, Forward mode and batches: the exercise for minigrad/func/jacobians.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08b
# docs/en/glossary.md explains the names used inside the package.

"""Jacobians in forward mode, and Hessians: `jacfwd`, `hessian`.

Source: https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

import functools
from typing import Any

from .. import _state
from .._state import having
from ..autograd.forward_ad.jacobian import columns_along
from ..op.declaration import F
from ..shapes import numel
from ..tensor.tensor import Tensor
from .levels import VmapLevels
from .reverse_jacobian import jacrev, units_for
from .transforms import (
    ArgNums,
    Function,
    chosen,
    differentiating,
    outside_inference,
    parted,
    replaced,
    tensors_only,
)
from .tree import leaves_of, rebuilt
from .vmap_checks import check_randomness

__all__ = ["hessian", "jacfwd", "jacrev"]


def column_block(levels: VmapLevels, columns: Tensor, part: slice,
                 of_input: tuple[int, ...]) -> Tensor:
    """Return one input's columns as a block of the Jacobian, with the output dimensions first.

    `columns` has a row for each column of the Jacobian; `part` selects the rows for the input, of
    shape `of_input`.
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
            with differentiating(func):
                result = func(*primals, **kwargs)
            output, aux = parted(result, has_aux, "jacfwd(f)(*args)")
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
