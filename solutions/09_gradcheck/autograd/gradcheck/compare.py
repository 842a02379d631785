# Stage 09, gradcheck: the solution for minigrad/autograd/gradcheck/compare.py.
# Made by `minigrad dev build`. The lesson is lessons/09_gradcheck.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""The comparisons of `gradcheck`: jacobians element by element, for inputs that it can check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...tensor.tensor import Tensor
from ..backward import grad
from .input_errors import NOTHING_TO_CHECK, overlap_error, warn_of_precision
from .numerical import (
    Tolerances,
    analytical_jacobians,
    as_tuple,
    check_equal,
    check_is_constant,
    differentiable,
    forward_jacobians,
    numerical_jacobians,
)

Function = Callable[..., Any]


def check_slow(func: Function, inputs: Sequence[Any], limits: Tolerances, results: Sequence[Any],
               forward: bool) -> None:
    """Raise unless the jacobian of every output and input equals the numerical one."""
    numerical = numerical_jacobians(func, inputs, results, limits.eps)
    positions = [i for i, r in enumerate(results) if isinstance(r, Tensor) and r.requires_grad]
    if not positions:
        check_is_constant(numerical, 0.0)
        return
    by_forward = forward_jacobians(func, inputs, results, limits) if forward else []
    for i, position in enumerate(positions):
        analytical = ([of_input[position] for of_input in by_forward] if forward
                      else analytical_jacobians(inputs, results[position], limits))
        for j, (found, of_input) in enumerate(zip(analytical, numerical, strict=True)):
            check_equal(found, of_input[position], i, j, limits, forward)


def check_inputs(inputs: Sequence[Any]) -> None:
    """Raise for inputs that cannot be checked; warn about low-precision inputs."""
    for index, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            continue
        if tensor._array.dtype != np.float64:
            warn_of_precision(index)
        if any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape, strict=True)):
            raise overlap_error(index)
    if not differentiable(inputs):
        raise ValueError(NOTHING_TO_CHECK)


def first_gradients(func: Function, count: int, live: Sequence[bool],
                    *given: Any) -> tuple[Tensor, ...]:
    """Return the gradients of `func` as a function of its inputs and of `grad_outputs`.

    The first `count` items of `given` are the inputs; `live` tells which of `given` require grad.
    """
    for tensor, requires_grad in zip(given, live, strict=True):
        if requires_grad:
            tensor.requires_grad_()  # forward mode has reset it
    outputs = differentiable(as_tuple(func(*given[:count])))
    goals = [t for t, requires_grad in zip(given[:count], live, strict=False) if requires_grad]
    found = grad(outputs, goals, given[count:], create_graph=True, allow_unused=True)
    return tuple(g for g in found if g is not None)
