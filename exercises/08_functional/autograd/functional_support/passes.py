# Stage 08, Jacobian, hessian and their products: the exercise for minigrad/autograd/functional_support/passes.py.
# Made by `minigrad dev build`. The lesson is lessons/08_functional.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08
# Names of the package's inside are explained in docs/en/glossary.md.

"""The backward passes of the functions of `functional`.

NOTE [Tangents by double backward]
    Backward computes `u -> J^T u`, a linear function of `u`.  Differentiating it once more, with
    respect to `u` and in the direction `v`, gives `J v`: the product that forward mode would
    compute, from two backward passes, whatever the value of `u` is.
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
    """Return `grad` of the outputs that can be differentiated; None if there is none."""
    # 08.2 Where there is no derivative (about 16 lines)
    # `gradients` returns, as a tuple with an entry for each input, what `grad` (imported
    # above) gives for `outputs` by `inputs`. Outputs that are None or do not require grad
    # are left out, and so are their entries in `grad_outputs`, which may be None
    # altogether: pass None on then. If no output is left, return None for every input.
    # `create_graph` and `retain_graph` are passed on; an input that nothing depends on
    # gives None, no error. `zeros_for_missing` returns the entries of `grads` as a tuple
    # of the same length, with zeros of the shape and dtype of `like[i]` where `grads[i]`
    # is None. In strict mode a None raises RuntimeError with the text
    # `_MISSING[step].format(i)`; in strict mode with create_graph an entry that does not
    # require grad raises RuntimeError with the text `independent(i, what)`, where `what`
    # is "hessian" if `step` contains that word and "jacobian" if not.
    raise NotImplementedError("08.2 Where there is no derivative is yours to write")


def pullback(outputs: Sequence[Tensor | None], inputs: Tensors,
             like: Tensors) -> tuple[Row, Tensors]:
    """Return the gradients as functions of a vector `u`, and `u`: zeros, shaped as `like`.

    See NOTE [Tangents by double backward].
    """
    # 08.6 jvp: the product from the right (about 15 lines)
    # `pullback` returns two tuples: the `gradients` of `outputs` by `inputs` for a vector
    # `u`, recorded so that they can be differentiated by `u`; and that `u`: for each
    # tensor of `like` zeros of its shape and dtype that require grad. `jvp` returns
    # `func(*inputs)` and `J v`, by two backward passes; see NOTE [Tangents by double
    # backward]. It does what `vjp` does to inputs and outputs, with the name "jvp". The
    # vector comes from `_vector_of_inputs(v, inputs, inputs_were_tuple, create_graph,
    # "jvp")`. The `pullback` of the outputs has vectors like the outputs, and goes
    # through `require_dependence(pulled, "grad_inputs", strict)`. The product has the
    # outputs' shapes: zeros where an output does not depend on the inputs
    # (`zeros_for_missing`, step "tangent"). Both results are nested as `func` gave its
    # outputs, and detached unless `create_graph`.
    raise NotImplementedError("08.6 jvp: the product from the right is yours to write")


def rows_of(output: Tensor, inputs: Tensors, create_graph: bool) -> list[Row]:
    """Return the rows of the jacobian of one output: one backward pass for each element."""
    # 08.4 Row by row (about 15 lines)
    # `unit_vectors` returns a list with a tensor for each element of `like`, in order: of
    # like's shape and dtype, 1 at that element and 0 elsewhere. `rows_of` returns a list
    # with a row for each element of `output`: the `gradients` of `output` by `inputs` for
    # that unit vector, with `create_graph`, and such that the graph can be used again.
    # `stacked` gets one tensor or None for each row and returns them as one tensor, rows
    # first, with zeros of the shape and dtype of `like` for None; without any row its
    # shape is `(0, *like.shape)`. `blocks_of` gets, for each input, the stacked rows of
    # `output`, or None, and returns a tuple with an entry of shape `(*output.shape,
    # *input.shape)` for each input: the rows put into that shape, or zeros of the input's
    # dtype.
    raise NotImplementedError("08.4 Row by row is yours to write")


def all_rows(outputs: Sequence[Tensor | None], inputs: Tensors,
             create_graph: bool) -> list[Row]:
    """Return the jacobian's rows of each output and input, from one batched backward pass.

    The rows of one output and one input are one tensor, rows first; None if there are none.
    """
    # 08.8 All rows in one pass (about 28 lines)
    # `units_of` returns a batch of vectors for each of `tensors`: all tensors together
    # have `total` elements, and each batch has the shape `(total, *t.shape)` and the
    # dtype of its tensor. Row `i` of all batches together is the `i`-th unit vector: 1 at
    # one element of one tensor, 0 everywhere else; the elements of the first tensor come
    # first. The first `skipped` dimensions of each tensor are left out of its shape.
    # `all_rows` returns a list with an entry for each of `outputs`: for each input, all
    # rows of that output by that input as one tensor, rows first, or None where `grad`
    # found nothing. It runs one backward pass, `grad(..., is_grads_batched=True)`, with
    # `create_graph` and so that the graph can be used again. Outputs that are None or do
    # not require grad have None for every input, and so have all if there is no element
    # to differentiate.
    raise NotImplementedError("08.8 All rows in one pass is yours to write")


def units_of(tensors: Sequence[Tensor], skipped: int = 0) -> list[Tensor]:
    """Return the unit vectors of the space of all tensors together, as a batch for each tensor.

    The first `skipped` dimensions of the tensors do not count.
    """
    # 08.8 All rows in one pass: see the task at `all_rows`.
    raise NotImplementedError("08.8 All rows in one pass is yours to write")


def unit_vectors(like: Tensor) -> list[Tensor]:
    """Return a unit tensor for each element of `like`."""
    # 08.4 Row by row: see the task at `rows_of`.
    raise NotImplementedError("08.4 Row by row is yours to write")


def stacked(rows: Sequence[Tensor | None], like: Tensor) -> Tensor:
    """Stack rows or columns; missing ones are zeros."""
    # 08.4 Row by row: see the task at `rows_of`.
    raise NotImplementedError("08.4 Row by row is yours to write")
