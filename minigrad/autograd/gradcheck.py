"""`gradcheck` and `gradgradcheck`: compare the engine's derivatives with finite differences.

Source: https://docs.pytorch.org/docs/stable/autograd.html#numerical-gradient-checking
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._state import next_sequence
from ..backend import backend_of
from ..graph import UnaryNode
from ..op import F
from ..tensor import Tensor
from .backward import grad
from .jacobians import (
    GradcheckError,
    analytical_jacobians,
    as_tuple,
    assembled,
    differentiable,
    fits,
    host,
    jacobian_columns,
    numerical_jacobians,
    same_within,
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
    """Return True if backward through `func(*inputs)` agrees with central differences of it.

    Checked are the float inputs that require grad and all outputs that do, in every element
    (`fast_mode` changes nothing).  `eps` is made for float64 inputs.  Where they disagree
    `GradcheckError` is raised, or False returned if not `raise_exception`; `ValueError` when no
    input requires grad.  `nondet_tol` is how far two backward passes may lie apart.

    >>> from minigrad import float64, tensor
    >>> x = tensor([1.0, -2.0], dtype=float64, requires_grad=True)
    >>> gradcheck(lambda x: x * x, (x,))
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
    if check_forward_ad:
        raise NotImplementedError("gradcheck of forward mode AD is not supported")
    inputs = as_tuple(inputs)
    check_inputs(inputs)
    try:
        results = as_tuple(func(*inputs))
        outputs = differentiable(results)
        numerical = numerical_jacobians(func, inputs, results, eps)
        if not outputs:
            check_is_constant(numerical)
            return True
        check_jacobians(inputs, results, numerical, atol, rtol, nondet_tol, check_grad_dtypes)
        if check_batched_grad:
            check_batched(inputs, outputs)
        check_multiplies_by_gradient(inputs, outputs)
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
    """Return True if the backward pass of `func(*inputs)` itself has the right derivatives.

    It is `gradcheck` of the function that takes the inputs and `grad_outputs` (random ones if left
    out) to the gradients of the inputs.

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
    count = len(inputs)

    def first_gradients(*both: Any) -> tuple[Tensor, ...]:
        outputs = differentiable(as_tuple(func(*both[:count])))
        found = grad(outputs, differentiable(both[:count]), both[count:], create_graph=True,
                     allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first_gradients, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked)


# -------------------------------------------------------------------- what is checked


def check_inputs(inputs: Sequence[Any]) -> None:
    """Refuse inputs that cannot be checked; warn of those that are not precise enough."""
    for index, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            continue
        if tensor._array.dtype != np.float64:
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ", UserWarning, stacklevel=3)
        if any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck.")
    if not differentiable(inputs):
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but "
                         "none of them have requires_grad=True.")


def check_is_constant(jacobians: Sequence[Sequence[Array]]) -> None:
    """Raise unless a function without differentiable outputs does not vary with its inputs."""
    if any((jacobian != 0).any() for row in jacobians for jacobian in row):
        raise GradcheckError("Numerical gradient for function expected to be zero")


def check_jacobians(inputs: Sequence[Any], results: Sequence[Any],
                    numerical: Sequence[Sequence[Array]], atol: float, rtol: float,
                    nondet_tol: float, check_grad_dtypes: bool) -> None:
    """Raise unless the analytical jacobian of every output by every input is the numerical one."""
    places = [i for i, r in enumerate(results) if isinstance(r, Tensor) and r.requires_grad]
    for i, place in enumerate(places):
        jacobians = analytical_jacobians(inputs, results[place], nondet_tol, check_grad_dtypes)
        for j, (analytical, by_input) in enumerate(zip(jacobians, numerical)):
            if not np.allclose(analytical, by_input[place], rtol, atol):
                raise GradcheckError(
                    f"Jacobian mismatch for output {i} with respect to input {j},\n"
                    f"numerical:{Tensor._plain(by_input[place])}\n"
                    f"analytical:{Tensor._plain(analytical)}\n")


def check_batched(inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    """Raise unless a batch of gradients gives what its slices give one by one."""
    goals = differentiable(inputs)
    for i, output in enumerate(outputs):
        batch = F.stack([random_like(output, False).detach() for _ in range(2)])
        together = grad(output, goals, batch, True, allow_unused=True, is_grads_batched=True)
        apart = [grad(output, goals, g, True, allow_unused=True) for g in batch]
        for j, (result, *expected) in enumerate(zip(together, *apart)):
            if result is not None and not np.allclose(
                    host(result), np.stack([host(e) for e in expected])):
                raise GradcheckError(f"For output {i} and input {j}:\n"
                                     "gradcheck or gradgradcheck failed while testing batched "
                                     "gradient computation.")


def check_multiplies_by_gradient(inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    """Raise unless gradients of zero give zeros, of the input's shape and dtype."""
    goals = differentiable(inputs)
    zeros = [Tensor._plain(backend_of(o._array).zeros_like(o._array)) for o in outputs]
    found = grad(outputs, goals, zeros, retain_graph=True, allow_unused=True)
    for goal, gradient in zip(goals, found):
        if gradient is None:
            continue
        if (gradient._array != 0).any():
            raise GradcheckError("backward not multiplied by grad_output")
        if gradient._array.dtype != goal._array.dtype:
            raise GradcheckError("grad is incorrect type")
        if gradient.device != goal.device:
            raise GradcheckError("grad is incorrect device")
        if gradient._array.shape != goal._array.shape:
            raise GradcheckError("grad is incorrect size")


def check_undefined(func: Function, inputs: Sequence[Any], count: int) -> None:
    """Raise unless the graph treats missing gradients of all outputs, and of each, as zeros."""
    advice = (' Please look at "Notes about undefined output gradients" in '
              '"tools/autograd/derivatives.yaml"')
    goals = differentiable(inputs)
    cases: list[set[int]] = [set(range(count))]
    if count > 1:
        cases += [{i} for i in range(count)]
    for case in cases:
        outputs = differentiable(as_tuple(func(*inputs)))
        outputs = tuple(without_gradient(o) if i in case else o for i, o in enumerate(outputs))
        zeros = [Tensor._plain(backend_of(o._array).zeros_like(o._array)) for o in outputs]
        try:
            found = grad(outputs, goals, zeros, allow_unused=True)
        except RuntimeError as error:
            warn_of_undefined()
            raise GradcheckError("Expected backward function to handle undefined output grads."
                                 + advice) from error
        if any((g._array != 0).any() for g in found if g is not None):
            warn_of_undefined()
            raise GradcheckError("Expected all input grads to be undefined or zero when all "
                                 "output grads are undefined or zero." + advice)


def warn_of_undefined() -> None:
    """Say how to leave the check of missing gradients out."""
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        "default, but it may break existing callers of this function. If this is true for you, "
        'you can call this function with "check_undefined_grad=False" to disable the feature',
        UserWarning, stacklevel=4)


class UndefinedGrad(UnaryNode):
    """A node that swallows the gradient it gets and hands none on."""

    __slots__ = ()

    def apply_arrays(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        return (None,)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        return (None,)


def without_gradient(tensor: Tensor) -> Tensor:
    """Return a tensor of the same values from which no gradient flows back."""
    node = UndefinedGrad()
    node.shape, node.dtype, node.extras = tensor._array.shape, tensor._array.dtype, None
    node.sequence = next_sequence()
    node.set_edges([tensor._edge()])
    result = Tensor._plain(tensor._array)
    result._node, result._requires_grad = node, True
    return result


def random_like(tensor: Tensor, noncontiguous: bool) -> Tensor:
    """Return a tensor of the same shape and dtype with random values that requires grad."""
    sizes = list(tensor.shape)
    if noncontiguous and sizes:
        sizes[-1] *= 2
    values = F.rand(sizes, dtype=tensor.dtype, device=tensor.device)._array * 2 - 1
    if noncontiguous and sizes:
        values = values[..., ::2]
    return Tensor._plain(values).requires_grad_()


# -------------------------------------------------------------------- deprecated


def warn_of_private(name: str) -> None:
    """Say that a function was never meant for the public."""
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
        "deprecating it and it will be removed in a future version of PyTorch. If you have a "
        "specific use for this or feature request for this to be a stable API, please file us an "
        "issue at https://github.com/pytorch/pytorch/issues/new", FutureWarning, stacklevel=3)


def get_numerical_jacobian(fn: Function, inputs: Any, target: Any = None, eps: float = 1e-3,
                           grad_out: float = 1.0) -> tuple[Tensor, ...]:
    """Return the jacobian of the first output of `fn(inputs)` by each of `target`; deprecated."""
    warn_of_private("get_numerical_jacobian")
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_numerical_jacobian no longer supports "
                         "values of grad_out != 1.0.")
    goals = as_tuple(inputs if target is None else target)
    jacobians = numerical_jacobians(lambda *_: fn(inputs), goals, as_tuple(fn(inputs)), eps)
    return tuple(Tensor._plain(by_input[0]) for by_input in jacobians)


def get_analytical_jacobian(inputs: Any, output: Tensor, nondet_tol: float = 0.0,
                            grad_out: float = 1.0) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """Return the jacobian of `output` by each input, and whether it can be trusted; deprecated.

    The flags: two backward passes agree, the gradients have the inputs' sizes, and their dtypes.
    """
    warn_of_private("get_analytical_jacobian")
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_analytical_jacobian no longer supports "
                         "values of grad_out != 1.0.")
    inputs = as_tuple(inputs)
    columns = jacobian_columns(inputs, output)
    jacobians = assembled(inputs, columns)
    agree = same_within(jacobians, assembled(inputs, jacobian_columns(inputs, output)), nondet_tol)
    sizes, dtypes = fits(inputs, columns)
    return tuple(map(Tensor._plain, jacobians)), agree, sizes, dtypes
