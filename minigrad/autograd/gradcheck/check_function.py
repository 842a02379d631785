"""`gradcheck` and `gradgradcheck`: compare the engine's derivatives with finite differences.

Source: https://docs.pytorch.org/docs/stable/autograd.html#numerical-gradient-checking
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...device import place_on
from ...tensor.tensor import Tensor
from .checks import (
    check_batched,
    check_batched_tangents,
    check_multiplies_by_gradient,
    check_undefined,
    check_undefined_tangents,
    random_like,
)
from .compare import check_inputs, check_slow, first_gradients
from .fast_mode import check_fast
from .numerical import GradcheckError, Tolerances, as_tuple, differentiable

__all__ = ["gradcheck", "gradgradcheck"]

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
