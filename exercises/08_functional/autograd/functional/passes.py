# Stage 08, Jacobian, hessian and their products: the exercise for minigrad/autograd/functional/passes.py.
# Made by `minigrad dev build`. The lesson is lessons/08_functional.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08
# docs/en/glossary.md explains the names used inside the package.

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
    # 08.2 Missing derivatives (about 9 lines)
    # `gradients` returns a tuple with the gradient that `grad` computes for each input,
    # and None for an input that no output depends on. `zeros_for_missing` replaces each
    # None with zeros like `like[i]`.
    #   gradients((2 * x, ones(2), None), (x, y), (g, g, g), False)  -> (2 * g, None)
    #   gradients((ones(2),), (x, y), None, False)                   -> (None, None)
    #   zeros_for_missing((None, h), (x, y), "gradient", False, False)
    #                                                                -> (zeros like x, h)
    # Mind:
    # - Leave out outputs that are None or don't require grad, together with their
    #   vectors.
    # - An unused input isn't an error.
    # - Pass `create_graph` and `retain_graph` on to `grad` unchanged.
    # Use: `grad`; `require_found` for the errors of strict mode.
    raise NotImplementedError("08.2 Missing derivatives is yours to write")


def pullback(outputs: Sequence[Tensor | None], inputs: Tensors,
             like: Tensors) -> tuple[Row, Tensors]:
    """Return the gradients as functions of a vector `u`, and `u` itself: zeros shaped like `like`.

    See NOTE [Tangents by double backward].
    """
    # 08.6 The jacobian-vector product (about 13 lines)
    # `pullback` returns the gradients for a vector `u`, and `u` itself, which is zeros
    # like `like`. The gradients must be differentiable with respect to `u`. `jvp` returns
    # `func(*inputs)` and `J v`, computed by two backward passes; see NOTE [Tangents by
    # double backward].
    #   f = lambda x: x * x.sum()                         # J = [[4, 1], [2, 5]] at (1, 2)
    #   jvp(f, tensor([1.0, 2.0]), tensor([1.0, 10.0]))   -> ([3, 6], [14, 52])
    #   jvp(lambda x: (2 * x, ones(3)), x, v)             -> (.., (2 * v, [0, 0, 0]))
    # Mind:
    # - Modes, inputs and outputs work as in `vjp`, but the product is nested as the
    #   outputs are.
    # - `require_dependence(pulled, "grad_inputs", strict)` checks the first pass.
    # Use: `_vector_of_inputs`, `zeros_for_missing` (step "tangent").
    raise NotImplementedError("08.6 The jacobian-vector product is yours to write")


def rows_of(output: Tensor, inputs: Tensors, create_graph: bool) -> list[Row]:
    """Return the rows of the jacobian of one output, with a backward pass for each element."""
    # 08.4 Jacobians row by row (about 15 lines)
    # Build a jacobian from its rows: `unit_vectors` returns a unit vector for each
    # element, `rows_of` a row for each unit vector, `stacked` all rows as one tensor, and
    # `blocks_of` blocks of shape `(*output.shape, *input.shape)`. Here x = (1, 2), y = 3.
    #   unit_vectors(tensor([[7.0, 8.0]]))           -> two tensors, [[1, 0]] and [[0, 1]]
    #   rows_of(x * x.sum(), (x, y), False)          -> [([4, 1], None), ([2, 5], None)]
    #   stacked([None, tensor([3.0, 4.0])], x)       -> [[0, 0], [3, 4]]
    #   stacked([], x)                               -> shape (0, 2)
    #   blocks_of(ones(2, 1), [m, None], (x, y))     -> m in shape (2, 1, 2), zeros (2, 1)
    # Mind:
    # - Unit vectors and zeros have the dtype of `like` or of their input.
    # - The caller may ask for the rows again.
    # - Pass `create_graph` on to `gradients`, which returns None for a constant.
    # Use: `F.eye`, `F.zeros`, `F.stack`, `gradients`.
    raise NotImplementedError("08.4 Jacobians row by row is yours to write")


def all_rows(outputs: Sequence[Tensor | None], inputs: Tensors,
             create_graph: bool) -> list[Row]:
    """Return the jacobian's rows for each output and input, from one batched backward pass.

    The rows of one output and one input form one tensor, or `None` if there are none.
    """
    # 08.8 All rows in one pass (about 17 lines)
    # Return an entry for each of `outputs`: a tuple that contains, for each input, all
    # rows of that output as one tensor. A single backward pass computes them all. Here x
    # = (1, 2), y = 3.
    #   all_rows((x * x.sum(), (x * x).sum() * y), (x, y), False)
    #                       -> [([[4, 1], [2, 5]], [0, 0]), ([[6, 12]], [5])]
    #   all_rows((ones(3), (x * x).sum()), (x, y), False)
    #                       -> [(None, None), ([[2, 4]], None)]
    # Mind:
    # - Leave out outputs that are None or don't require grad.
    # - If no element is left to differentiate, run no pass: each entry has None for every
    #   input.
    # - The caller may use the graph again. Pass `create_graph` on to `grad`.
    # Use: `units_of` for the batches; `grad(..., is_grads_batched=True)`.
    raise NotImplementedError("08.8 All rows in one pass is yours to write")


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
    # 08.4 Jacobians row by row: see the task at `rows_of`.
    raise NotImplementedError("08.4 Jacobians row by row is yours to write")


def stacked(rows: Sequence[Tensor | None], like: Tensor) -> Tensor:
    """Stack rows or columns; missing ones become zeros."""
    # 08.4 Jacobians row by row: see the task at `rows_of`.
    raise NotImplementedError("08.4 Jacobians row by row is yours to write")
