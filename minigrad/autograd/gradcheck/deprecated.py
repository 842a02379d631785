"""Two functions that PyTorch has deprecated: the jacobians of `gradcheck`, with a warning.

Source: https://docs.pytorch.org/docs/stable/autograd.html#numerical-gradient-checking
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...frames import warn_user
from ...tensor.tensor import Tensor
from .numerical import (
    as_tuple,
    assembled,
    fits,
    jacobian_columns,
    numerical_jacobians,
    same_within,
)

__all__ = ["get_analytical_jacobian", "get_numerical_jacobian"]

Function = Callable[..., Any]


def warn_of_private(name: str) -> None:
    """Warn that a function was never public."""
    warn_user(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
        "deprecating it and it will be removed in a future version of PyTorch. If you have a "
        "specific use for this or feature request for this to be a stable API, please file us an "
        "issue at https://github.com/pytorch/pytorch/issues/new", FutureWarning)


def get_numerical_jacobian(fn: Function, inputs: Any, target: Any = None, eps: float = 1e-3,
                           grad_out: float = 1.0) -> tuple[Tensor, ...]:
    """Return the jacobian of the first output of `fn(inputs)` for each of `target`; deprecated."""
    warn_of_private("get_numerical_jacobian")
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_numerical_jacobian no longer supports "
                         "values of grad_out != 1.0.")
    goals = as_tuple(inputs if target is None else target)
    jacobians = numerical_jacobians(lambda *_: fn(inputs), goals, as_tuple(fn(inputs)), eps)
    return tuple(Tensor._plain(by_input[0]) for by_input in jacobians)


def get_analytical_jacobian(inputs: Any, output: Tensor, nondet_tol: float = 0.0,
                            grad_out: float = 1.0) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """Return the jacobian of `output` for each input, and three flags; deprecated.

    The flags tell whether two backward passes agree, and whether the gradients have the inputs'
    sizes and dtypes.
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
