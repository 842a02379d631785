# Stage 09, gradcheck: the exercise for minigrad/autograd/gradchecks/checks.py.
# Made by `minigrad dev build`. The lesson is lessons/09_gradcheck.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 09
# Names of the package's inside are explained in docs/en/glossary.md.

"""Checks of `gradcheck` beyond the jacobians: batches, missing gradients and tangents, zeros.

Source: https://docs.pytorch.org/docs/stable/autograd.html#numerical-gradient-checking
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend import backend_of
from ...batching import batched, examples, next_level
from ...graph.node import NaryNode, next_sequence
from ...op.declaration import F
from ...tensor.tensor import Tensor
from ..backward import grad
from ..forward_ad import dual_at, unpacked_at
from ..forward_mode.tangents import TangentLevel
from .numerical import GradcheckError, as_tuple, differentiable, host

Function = Callable[..., Any]

FAILED_BATCH = """gradcheck or gradgradcheck failed while testing batched gradient computation.

It runs the backward pass once for a stack of gradients, which an operation that cannot take a batch
prevents. Call gradcheck or gradgradcheck with `check_batched_grad=False` to leave that out."""


FAILED_FORWARD_BATCH = """\
gradcheck failed while testing batched gradient computation with forward-mode AD.

It runs the function once with a stack of tangents, which an operation that cannot take a batch
prevents. Call gradcheck with `check_batched_forward_grad=False` to leave that out."""

#: The end of the errors of `check_undefined`.
ABOUT_UNDEFINED = (' Please look at "Notes about undefined output gradients" in '
                   '"tools/autograd/derivatives.yaml"')


def check_batched(inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    """Raise unless a batch of gradients gives what its slices give one by one."""
    goals = differentiable(inputs)
    for i, output in enumerate(outputs):
        batch = F.stack([random_like(output, False).detach() for _ in range(2)])
        apart = [grad(output, goals, g, True, allow_unused=True) for g in batch]
        try:
            together = grad(output, goals, batch, True, allow_unused=True, is_grads_batched=True)
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\n{FAILED_BATCH}") from error
        for j, (result, *expected) in enumerate(zip(together, *apart, strict=True)):
            if result is None:
                continue
            wanted = np.stack([host(e) for e in expected])
            if not np.allclose(host(result), wanted):
                raise GradcheckError(
                    f"For output {i} and input {j}:\n\n{FAILED_BATCH}\n\n"
                    f"Got:\n{result}\n\nExpected:\n{Tensor._plain(wanted)}")


def check_batched_tangents(func: Function, inputs: Sequence[Any]) -> None:
    """Raise unless a batch of tangents gives what its rows give one by one."""
    for which, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            continue
        batch = F.stack([random_like(tensor, False).detach() for _ in range(2)])
        apart = [slopes(func, inputs, which, row) for row in batch]
        number = next_level()
        try:
            together = slopes(func, inputs, which, batched(batch, number))
        except RuntimeError as error:
            raise GradcheckError(f"While computing batched gradients, got: {error}\n\n"
                                 + FAILED_FORWARD_BATCH) from error
        for i, (found, *rows) in enumerate(zip(together, *apart, strict=True)):
            if found is None or any(r is None for r in rows):
                continue
            result = examples(found, number)
            result = found.expand((2, *found.shape)) if result is None else result
            expected = np.stack([host(r) for r in rows])
            if not np.allclose(host(result), expected):
                raise GradcheckError(
                    f"For output {i} and input {which}:\n\n{FAILED_FORWARD_BATCH}\n\n"
                    f"Got:\n{result}\n\nExpected:\n{Tensor._plain(expected)}")


def slopes(func: Function, inputs: Sequence[Any], which: int,
           tangent: Tensor) -> list[Tensor | None]:
    """Return the tangents of the results, given the tangent of one input only."""
    with TangentLevel() as level:
        given = [t.detach() if isinstance(t, Tensor) else t for t in inputs]
        given[which] = dual_at(level, given[which], tangent)
        return [unpacked_at(level, r)[1] for r in as_tuple(func(*given))]


def check_multiplies_by_gradient(inputs: Sequence[Any], outputs: Sequence[Tensor],
                                 masked: bool) -> None:
    """Raise unless gradients of zero give zeros, of the input's shape and dtype.

    With `masked`, meant for sparse tensors, nearly zero is enough.
    """
    # 09.5 Gradients of zero, and none at all (about 33 lines)
    # `check_multiplies_by_gradient(inputs, outputs, masked)`: run backward from all
    # `outputs` at once with gradients of zeros (`grad(outputs, goals, zeros,
    # retain_graph=True, allow_unused=True)`, goals being the inputs that require grad).
    # Skip missing gradients. Raise GradcheckError "backward not multiplied by
    # grad_output" if a gradient is not exactly zero, or, if `masked`, not nearly
    # (`np.allclose`); "grad is incorrect type", "... device" or "... size" if its dtype,
    # device or shape is not the input's. `check_undefined(func, inputs, count)`: a
    # gradient may be missing, which has to count as zeros. Try all `count` outputs
    # missing and, if there are several, each one alone: call `func(*inputs)` anew,
    # replace the outputs of the case (counted among those that require grad) by
    # `without_gradient(output)`, and run `grad` with zeros as before, without keeping the
    # graph. If it raises RuntimeError, call `warn_of_undefined()` and raise
    # GradcheckError "Expected backward function to handle undefined output grads."; if a
    # gradient that is not missing has an element other than 0, the same with "Expected
    # all input grads to be undefined or zero when all output grads are undefined or
    # zero." Both texts are followed by `ABOUT_UNDEFINED`.
    raise NotImplementedError("09.5 Gradients of zero, and none at all is yours to write")


def check_undefined(func: Function, inputs: Sequence[Any], count: int) -> None:
    """Raise unless the graph treats missing gradients of all outputs, and of each, as zeros."""
    # 09.5 Gradients of zero, and none at all: see the task at `check_multiplies_by_gradient`.
    raise NotImplementedError("09.5 Gradients of zero, and none at all is yours to write")


def check_undefined_tangents(func: Function, inputs: Sequence[Any]) -> None:
    """Raise unless an input without a tangent gives what one with a tangent of zeros gives."""
    for missing in differentiable(inputs):
        outcomes = []
        for with_zeros in (True, False):
            with TangentLevel() as level:
                given = [
                    tensor if not isinstance(tensor, Tensor) or not tensor.requires_grad
                    else tensor.detach() if tensor is missing and not with_zeros
                    else dual_at(level, tensor.detach(), F.zeros_like(tensor) if tensor is missing
                                 else F.ones_like(tensor))
                    for tensor in inputs]
                results = [r for r in as_tuple(func(*given)) if isinstance(r, Tensor)]
                outcomes.append([unpacked_at(level, r)[1] for r in results])
        for i, (got, expected) in enumerate(zip(*reversed(outcomes), strict=True)):
            if got is not None and expected is not None and not np.allclose(
                    host(got), host(expected)):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {i} when input: {missing} "
                    f"has an undefined tangent value.  Got: {got} but expected: {expected}")


def warn_of_undefined() -> None:
    """Return the advice how to skip the check of missing gradients."""
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        "default, but it may break existing callers of this function. If this is true for you, "
        'you can call this function with "check_undefined_grad=False" to disable the feature',
        UserWarning, stacklevel=4)


class UndefinedGrad(NaryNode):
    """Identity that returns no gradient."""

    __slots__ = ()

    def apply_arrays(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        return (None,)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        return (None,)


def without_gradient(tensor: Tensor) -> Tensor:
    """Return a tensor of the same values from which no gradient flows back."""
    node = UndefinedGrad([tensor._edge()])
    node.shape, node.dtype = tensor._array.shape, tensor._array.dtype
    node.sequence = next_sequence()
    result = Tensor._plain(tensor._array)
    result._node, result._requires_grad = node, True
    return result


def random_like(tensor: Tensor, noncontiguous: bool) -> Tensor:
    """Return a tensor of the same shape and dtype with random values that requires grad."""
    sizes = list(tensor.shape)
    if noncontiguous and sizes:
        sizes[-1] *= 2
    values = (F.rand(sizes, dtype=tensor.dtype, device=tensor.device) * 2 - 1)._array
    if noncontiguous and sizes:
        values = values[..., ::2]
    return Tensor._plain(values).requires_grad_()
