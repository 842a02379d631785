# Stage 09, gradcheck: the exercise for minigrad/autograd/gradcheck/compare.py.
# Made by `minigrad dev build`. The lesson is lessons/09_gradcheck.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 09
# docs/en/glossary.md explains the names used inside the package.

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
    # 09.3 Comparing jacobians (about 12 lines)
    # `nearly_equal` tells whether |analytical - numerical| <= atol + rtol * |numerical|
    # everywhere; an infinity is near only itself. `check_slow` calls `check_equal` for
    # each result and input that require grad.
    #   nearly_equal([100.05], [100], 1e-3, 1e-5)  -> True
    #   nearly_equal([110], [100], 0.095, 0)       -> False;  of [100] and [110]: True
    #   nearly_equal([nan], [nan], 1e-3, 1e-5)     -> False;  of [1] and [inf]: False
    # Mind:
    # - In its output and input numbers, `check_equal` counts only tensors that require
    #   grad.
    # - Numerical jacobians, and the ones from forward mode, are at [input][result], among
    #   all results.
    # - With `forward`, only forward mode is computed and compared, otherwise only
    #   backward.
    # - If no result requires grad, call only `check_is_constant(numerical, 0.0)`.
    # Use: `numerical_jacobians`, `forward_jacobians`, `analytical_jacobians`.
    raise NotImplementedError("09.3 Comparing jacobians is yours to write")


def check_inputs(inputs: Sequence[Any]) -> None:
    """Raise for inputs that cannot be checked; warn about low-precision inputs."""
    # 09.4 Inputs that can be checked (about 9 lines)
    # Find inputs that differences can't check: float32 has too few digits, and elements
    # that share memory move together. Only tensors that require grad matter.
    #   check_inputs((1.5, float32 tensor))       -> calls warn_of_precision(1), no error
    #   check_inputs((shape (3, 2), strides (0, 1),))   -> raises overlap_error(0)
    #   check_inputs((shape (1, 2), strides (0, 1),))   -> nothing
    #   check_inputs((1.5, "word"))               -> ValueError(NOTHING_TO_CHECK)
    # Mind:
    # - The index counts all inputs.
    # - Every dtype but float64 gets a warning, and the input may be rejected after that.
    # Use: `differentiable`.
    raise NotImplementedError("09.4 Inputs that can be checked is yours to write")


def first_gradients(func: Function, count: int, live: Sequence[bool],
                    *given: Any) -> tuple[Tensor, ...]:
    """Return the gradients of `func` as a function of its inputs and of `grad_outputs`.

    The first `count` items of `given` are the inputs; `live` tells which of `given` require grad.
    """
    # 09.6 The gradient as a function (about 7 lines)
    # Return, as a tuple, the gradients of `func` for its live inputs, so that they can be
    # differentiated again. The first `count` of `given` are inputs, the others gradients
    # of outputs.
    #   first_gradients(lambda x: x * x * x, 1, [True, True], x, g)
    #                   -> ([36, 30],) for x = [2, 1], g = [3, 10]: 3 * x * x * g
    #   first_gradients(lambda x, y: (2 * x, c, 3 * x), 2, [True] * 4, x, y, g, h)
    #                   -> (2 * g + 3 * h,): y is not used, c does not require grad
    # Mind:
    # - Forward mode has reset requires_grad, so first call `requires_grad_()` on all live
    #   tensors, and no others.
    # - Leave out only missing gradients.
    # Use: `grad`, `differentiable`, `as_tuple`.
    raise NotImplementedError("09.6 The gradient as a function is yours to write")
