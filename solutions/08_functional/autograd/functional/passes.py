# Stage 08, Jacobian, hessian and their products: the solution for minigrad/autograd/functional/passes.py.
# Made by `minigrad dev build`. The lesson is lessons/08_functional.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""The backward passes of `functional`.

NOTE [Tangents by double backward]
    Backward computes `u -> J^T u`, a linear function of `u`.  Differentiating it again, with
    respect to `u` and in the direction `v`, gives `J v`.  That is the product that forward mode
    would compute, but from two backward passes, and the value of `u` does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import backend_of
from ...device import place_on
from ...op.declaration import F
from ...shapes import numel
from ...tensor.tensor import Tensor
from ..backward import grad
from .checks import Tensors

Row = tuple[Tensor | None, ...]  # the derivative of one element with respect to every input


def gradients(outputs: Sequence[Tensor | None], inputs: Tensors, grad_outputs: Tensors | None,
              create_graph: bool, retain_graph: bool | None = None) -> Row:
    """Return `grad` of the differentiable outputs; without any, every gradient is `None`."""
    live = [i for i, out in enumerate(outputs) if out is not None and out.requires_grad]
    if not live:
        return (None,) * len(inputs)
    vectors = None if grad_outputs is None else [grad_outputs[i] for i in live]
    live_outputs: Any = [outputs[i] for i in live]
    return grad(live_outputs, inputs, vectors, retain_graph, create_graph, allow_unused=True)


def pullback(outputs: Sequence[Tensor | None], inputs: Tensors,
             like: Tensors) -> tuple[Row, Tensors]:
    """Return the gradients as functions of a vector `u`, and `u` itself: zeros shaped like `like`.

    See NOTE [Tangents by double backward].
    """
    u: Tensors = tuple(F.zeros_like(t, requires_grad=True) for t in like)
    return gradients(outputs, inputs, u, create_graph=True), u


def rows_of(output: Tensor, inputs: Tensors, create_graph: bool) -> list[Row]:
    """Return the rows of the jacobian of one output, with a backward pass for each element."""
    return [gradients((output,), inputs, (one,), create_graph, retain_graph=True)
            for one in unit_vectors(output)]


def all_rows(outputs: Sequence[Tensor | None], inputs: Tensors,
             create_graph: bool) -> list[Row]:
    """Return the jacobian's rows for each output and input, from one batched backward pass.

    The rows of one output and one input form one tensor, or `None` if there are none.
    """
    live = [out for out in outputs if out is not None and out.requires_grad]
    total = sum(out.numel() for out in live)
    if not total:
        return [(None,) * len(inputs) for _ in outputs]
    grads = grad(live, inputs, units_of(live), True, create_graph, allow_unused=True,
                 is_grads_batched=True)
    rows: list[Row] = []
    start = 0
    for out in outputs:
        if out is None or not out.requires_grad:
            rows.append((None,) * len(inputs))
            continue
        size = out.numel()
        rows.append(tuple(
            g if g is None or size == total else g[start : start + size] for g in grads))
        start += size
    return rows


def units_of(tensors: Sequence[Tensor], skipped: int = 0) -> list[Tensor]:
    """Return the unit vectors of the joint space of all tensors, as a batch for each tensor.

    The first `skipped` dimensions of the tensors do not count.
    """
    shapes = [tuple(t.shape[skipped:]) for t in tensors]
    total = sum(map(numel, shapes))
    units, start = [], 0
    for t, shape in zip(tensors, shapes, strict=True):
        size = numel(shape)
        with place_on(t._array):
            batch = backend_of(t._array).zeros((total, *shape), t._array.dtype)
            batch.reshape(-1)[start * size : (start + size) * size : size + 1] = 1
        units.append(Tensor._plain(batch))
        start += size
    return units


def unit_vectors(like: Tensor) -> list[Tensor]:
    """Return a unit tensor for each element of `like`."""
    array = like._array
    size = like.numel()
    with place_on(array):
        units = backend_of(array).zeros((size, *array.shape), array.dtype)
        units.reshape(-1)[:: size + 1] = 1
        return [Tensor._plain(units[i, ...]) for i in range(size)]


def stacked(rows: Sequence[Tensor | None], like: Tensor) -> Tensor:
    """Stack rows or columns; missing ones become zeros."""
    if not rows:
        return F.zeros((0, *like.shape), dtype=like.dtype)
    zeros = F.zeros_like(like)
    return F.stack([zeros if one is None else one for one in rows])
