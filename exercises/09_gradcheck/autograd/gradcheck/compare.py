# Stage 09, gradcheck: the exercise for minigrad/autograd/gradcheck/compare.py.
# Made by `minigrad dev build`. The lesson is lessons/09_gradcheck.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 09
# docs/en/glossary.md explains the names used inside the package.

"""`gradcheck` and `gradgradcheck`: compare the engine's derivatives with finite differences.

Source: https://docs.pytorch.org/docs/stable/autograd.html#numerical-gradient-checking
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...device import place_on
from ...tensor.tensor import Tensor
from ..backward import grad
from .checks import (
    check_batched,
    check_batched_tangents,
    check_multiplies_by_gradient,
    check_undefined,
    check_undefined_tangents,
    random_like,
)
from .deprecated import get_analytical_jacobian, get_numerical_jacobian
from .fast_mode import check_fast
from .numerical import (
    GradcheckError,
    Tolerances,
    analytical_jacobians,
    as_tuple,
    check_equal,
    check_is_constant,
    differentiable,
    forward_jacobians,
    numerical_jacobians,
)

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck",
           "gradgradcheck"]

Array = Any
Function = Callable[..., Any]


def gradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Return True if the derivatives of `func(*inputs)` agree with its central differences.

    It checks the derivatives of all outputs that require grad with respect to the float inputs that
    do, by backward (`check_backward_ad`) and by forward mode (`check_forward_ad`). The default
    `eps` suits float64. If the derivatives disagree, it raises `GradcheckError`, or returns False
    with `raise_exception=False`. It raises `ValueError` if no input requires grad.

    `fast_mode` compares one random combination of each jacobian's elements instead of all elements.
    `nondet_tol` is the largest allowed difference between two backward passes.
    `check_undefined_grad` checks that missing gradients and tangents count as zeros,
    `check_grad_dtypes` that gradients have their inputs' dtypes, and `check_batched_grad` and
    `check_batched_forward_grad` that a batch of gradients or tangents gives the same results.
    `masked` is for sparse tensors.

    >>> from minigrad import float64, tensor
    >>> x = tensor([1.0, -2.0], dtype=float64, requires_grad=True)
    >>> gradcheck(lambda x: x * x, (x,), check_forward_ad=True)
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    inputs = as_tuple(inputs)
    check_inputs(inputs)
    check = partial(check_fast if fast_mode else check_slow, func, inputs,
                    Tolerances(eps, atol, rtol, nondet_tol, check_grad_dtypes))
    try:
        with place_on(differentiable(inputs)[0]._array):
            results = as_tuple(func(*inputs))
            outputs = differentiable(results)
            if check_backward_ad:
                check(results, forward=False)
            if check_forward_ad:
                check(results, forward=True)
                if check_undefined_grad:
                    check_undefined_tangents(func, inputs)
            if check_batched_forward_grad:
                check_batched_tangents(func, inputs)
            if check_backward_ad and outputs:
                if check_batched_grad:
                    check_batched(inputs, outputs)
                check_multiplies_by_gradient(inputs, outputs, bool(masked))
                if check_undefined_grad:
                    check_undefined(func, inputs, len(outputs))
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Any] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Return True if the backward pass of `func(*inputs)` has the right derivatives itself.

    It runs `gradcheck` on the function that maps the inputs and `grad_outputs` (random by default)
    to the gradients of the inputs.

    >>> from minigrad import float64, tensor
    >>> x = tensor([1.0, -2.0], dtype=float64, requires_grad=True)
    >>> gradgradcheck(lambda x: x * x * x, (x,))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for flag, check in (("check_undefined_grad", check_undefined_grad),
                        ("check_batched_grad", check_batched_grad)):
        if check and not check_rev_over_rev:
            raise AssertionError(f"Setting {flag}=True requires check_rev_over_rev to be True")
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        outputs = differentiable(as_tuple(func(*inputs)))
        grad_outputs = [random_like(o, gen_non_contig_grad_outputs) for o in outputs]
    grad_outputs = as_tuple(grad_outputs)
    both = inputs + grad_outputs
    live = [isinstance(t, Tensor) and t.requires_grad for t in both]
    return gradcheck(
        partial(first_gradients, func, len(inputs), live), both, eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked)


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


# -------------------------------------------------------------------- checks


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


#: The error if no input requires grad.
NOTHING_TO_CHECK = ("gradcheck expects at least one input tensor to require gradient, but none of "
                    "them have requires_grad=True.")


def warn_of_precision(index: int) -> None:
    """Warn that the input with this index is not float64."""
    warnings.warn(
        f"Input #{index} requires gradient and is not a double precision floating point or "
        "complex. This check will likely fail if all the inputs are not of double precision "
        "floating point or complex. ", UserWarning, stacklevel=4)


def overlap_error(index: int) -> RuntimeError:
    """Return the error for an input whose elements share memory."""
    return RuntimeError(
        f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that "
        "are non-overlapping to be able to compute the numerical gradients correctly. You should "
        "call .contiguous on the input before passing it to gradcheck.")


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


# -------------------------------------------------------------------- deprecated
