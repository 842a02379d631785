"""Jacobians in reverse mode: `jacrev`.

Source: https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

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
from .tree import rebuilt

__all__ = ["jacrev"]


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
