# Stage 09, gradcheck: the solution for minigrad/autograd/gradcheck/checks.py.
# Made by `minigrad dev build`. The lesson is lessons/09_gradcheck.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Checks of `gradcheck` beyond the jacobians: batches, missing gradients and tangents, zeros.

Source: https://docs.pytorch.org/docs/stable/autograd.html#numerical-gradient-checking
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend import backend_of
from ...batching import batched, examples, next_level
from ...frames import warn_user
from ...graph.node import NaryNode, next_sequence
from ...op.declaration import F
from ...tensor.tensor import Tensor
from ..backward import grad
from ..forward_ad.dual_tensors import dual_at, unpacked_at
from ..forward_ad.tangents import TangentLevel
from .numerical import GradcheckError, as_tuple, differentiable, host

Function = Callable[..., Any]

FAILED_BATCH = """gradcheck or gradgradcheck failed while testing batched gradient computation.

It runs the backward pass once for a stack of gradients, which an operation that cannot take a batch
prevents. Call gradcheck or gradgradcheck with `check_batched_grad=False` to leave that out."""


FAILED_FORWARD_BATCH = """\
gradcheck failed while testing batched gradient computation with forward-mode AD.

It runs the function once with a stack of tangents, which an operation that cannot take a batch
prevents. Call gradcheck with `check_batched_forward_grad=False` to leave that out."""

#: The errors of `check_undefined`: backward raises, or it returns nonzero gradients.
NOT_HANDLED = "Expected backward function to handle undefined output grads."
NOT_ZERO = ("Expected all input grads to be undefined or zero when all output grads are undefined "
            "or zero.")


def check_batched(inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    """Raise unless a batch of gradients gives the same results as its slices one by one."""
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
    """Raise unless a batch of tangents gives the same results as its rows one by one."""
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
    """Raise unless zero gradients give zeros with the input's shape and dtype.

    With `masked`, which is meant for sparse tensors, nearly zero is enough.
    """
    goals = differentiable(inputs)
    found = grad(outputs, goals, zeros_for(outputs), retain_graph=True, allow_unused=True)
    for goal, gradient in zip(goals, found, strict=True):
        if gradient is None:
            continue
        if not is_zero(gradient, masked):
            raise GradcheckError("backward not multiplied by grad_output")
        check_fits(gradient, goal)


def zeros_for(outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return zeros with the shape, dtype and device of each output."""
    return [Tensor._plain(backend_of(o._array).zeros_like(o._array)) for o in outputs]


def is_zero(gradient: Tensor, masked: bool = False) -> bool:
    """Return whether all elements of a gradient are zero, or nearly zero with `masked`."""
    if masked:
        return np.allclose(host(gradient), 0)
    return bool((gradient._array == 0).all())


def check_fits(gradient: Tensor, goal: Tensor) -> None:
    """Raise unless a gradient has the dtype, device and shape of its input."""
    if gradient._array.dtype != goal._array.dtype:
        raise GradcheckError("grad is incorrect type")
    if gradient.device != goal.device:
        raise GradcheckError("grad is incorrect device")
    if gradient._array.shape != goal._array.shape:
        raise GradcheckError("grad is incorrect size")


def check_undefined(func: Function, inputs: Sequence[Any], count: int) -> None:
    """Raise unless missing gradients of outputs, all or just one, count as zeros."""
    goals = differentiable(inputs)
    cases: list[set[int]] = [set(range(count))]
    if count > 1:
        cases += [{i} for i in range(count)]
    for case in cases:
        outputs = differentiable(as_tuple(func(*inputs)))
        outputs = tuple(without_gradient(o) if i in case else o for i, o in enumerate(outputs))
        try:
            found = grad(outputs, goals, zeros_for(outputs), allow_unused=True)
        except RuntimeError as error:
            raise undefined_error(NOT_HANDLED) from error
        if not all(is_zero(g) for g in found if g is not None):
            raise undefined_error(NOT_ZERO)


def check_undefined_tangents(func: Function, inputs: Sequence[Any]) -> None:
    """Raise unless an input without a tangent gives the same as a tangent of zeros."""
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


def undefined_error(text: str) -> GradcheckError:
    """Warn that you can skip the check of missing gradients, and return its error."""
    warn_user(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        "default, but it may break existing callers of this function. If this is true for you, "
        'you can call this function with "check_undefined_grad=False" to disable the feature',
        UserWarning)
    return GradcheckError(text + ' Please look at "Notes about undefined output gradients" in '
                          '"tools/autograd/derivatives.yaml"')


class UndefinedGrad(NaryNode):
    """Identity that returns no gradient."""

    __slots__ = ()

    def apply_arrays(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        return (None,)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        return (None,)


def without_gradient(tensor: Tensor) -> Tensor:
    """Return a tensor with the same values through which no gradient flows back."""
    node = UndefinedGrad([tensor._edge()])
    node.shape, node.dtype = tensor._array.shape, tensor._array.dtype
    node.sequence = next_sequence()
    result = Tensor._plain(tensor._array)
    result._node, result._requires_grad = node, True
    return result


def random_like(tensor: Tensor, noncontiguous: bool) -> Tensor:
    """Return a random tensor with the same shape and dtype that requires grad."""
    sizes = list(tensor.shape)
    if noncontiguous and sizes:
        sizes[-1] *= 2
    values = (F.rand(sizes, dtype=tensor.dtype, device=tensor.device) * 2 - 1)._array
    if noncontiguous and sizes:
        values = values[..., ::2]
    return Tensor._plain(values).requires_grad_()
