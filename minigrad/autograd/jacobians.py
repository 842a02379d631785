"""The jacobian of a function twice: by central differences, and by backward passes.

Every element of every input that requires grad is moved a little to either side, which gives the
numerical jacobian row by row; one backward pass per element of an output gives the analytical one
column by column.  Both have the input's elements as rows and the output's as columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..array_info import Size
from ..backend import backend_of
from ..dtypes import from_numpy_dtype
from ..tensor import Tensor
from .backward import grad

Array = Any
Function = Callable[..., Any]
#: For each element of an output, its gradient by each input that requires grad.
Columns = Sequence[Sequence[Tensor | None]]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when the derivatives differ."""


def as_tuple(values: Any) -> tuple[Any, ...]:
    """Return a tuple or list as a tuple, anything else as the only item of one."""
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def differentiable(values: Sequence[Any]) -> tuple[Tensor, ...]:
    """Return the tensors among `values` that require grad."""
    return tuple(v for v in values if isinstance(v, Tensor) and v.requires_grad)


def host(tensor: Any) -> Array:
    """Return a copy of a tensor's values, in NumPy."""
    return np.array(backend_of(tensor._array).to_host(tensor._array))


def numerical_jacobians(func: Function, inputs: Sequence[Any], results: Sequence[Any],
                        eps: float) -> list[list[Array]]:
    """Return, for each input that requires grad, the jacobian of each result by differences.

    The input is moved in its own memory, behind the back of the version counter.
    """
    jacobians = []
    for tensor in differentiable(inputs):
        array = tensor._array
        by_input = [np.zeros((array.size, r._array.size), r._array.dtype) for r in results]
        for row, place in enumerate(np.ndindex(array.shape)):
            kept = array[place].copy()
            below_and_above = []
            for moved in (kept - eps, kept + eps):
                array[place] = moved
                below_and_above.append([host(r) for r in as_tuple(func(*inputs))])
            array[place] = kept
            for jacobian, below, above in zip(by_input, *below_and_above):
                check_alike(below, above, place, eps)
                if jacobian.dtype.kind == "f":
                    jacobian[row] = ((above - below) / (2 * eps)).reshape(-1)
        jacobians.append(by_input)
    return jacobians


def check_alike(below: Array, above: Array, place: tuple[int, ...], eps: float) -> None:
    """Raise when shape or dtype of a result changes with the input's value at `place`."""
    shapes, types = (below.shape, above.shape), (below.dtype, above.dtype)
    if shapes[0] != shapes[1]:
        what, (a, b) = "shape", map(str, map(Size, shapes))
    elif types[0] != types[1]:
        what, (a, b) = "dtype", (str(from_numpy_dtype(t)) for t in types)
    else:
        return
    raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are "
                         f"perturbed on index {place} by {eps}, but got: {what}s {a} and {b}.")


def jacobian_columns(inputs: Sequence[Any], output: Tensor) -> Columns:
    """Return, for each element of `output`, its gradient by each input that requires grad."""
    goals = differentiable(inputs)
    columns: list[list[Tensor | None]] = []
    one_hot = backend_of(output._array).zeros(output._array.shape, output._array.dtype)
    for place in np.ndindex(output._array.shape):
        one_hot[place] = 1
        found = grad(output, goals, Tensor._plain(one_hot.copy()), True, allow_unused=True)
        columns.append([None if g is None else Tensor._plain(g._array.copy()) for g in found])
        one_hot[place] = 0
    return columns


def assembled(inputs: Sequence[Any], columns: Columns) -> list[Array]:
    """Return the jacobian of each input; missing gradients, and those of a wrong size, are zero."""
    jacobians = []
    for i, tensor in enumerate(differentiable(inputs)):
        jacobian = np.zeros((tensor._array.size, len(columns)), tensor._array.dtype)
        for j, column in enumerate(columns):
            found = column[i]
            if found is not None and found._array.shape == tensor._array.shape:
                jacobian[:, j] = host(found).reshape(-1)
        jacobians.append(jacobian)
    return jacobians


def analytical_jacobians(inputs: Sequence[Any], output: Tensor, nondet_tol: float,
                         check_grad_dtypes: bool) -> list[Array]:
    """Return the jacobian of `output` by each input, from backward; run twice, to compare."""
    columns = jacobian_columns(inputs, output)
    jacobians = assembled(inputs, columns)
    again = assembled(inputs, jacobian_columns(inputs, output))
    sizes, dtypes = fits(inputs, columns)
    if check_grad_dtypes and not dtypes:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not same_within(jacobians, again, nondet_tol):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches numerical "
            f"gradient.The tolerance for nondeterminism was {nondet_tol}.")
    return jacobians


def fits(inputs: Sequence[Any], columns: Columns) -> tuple[bool, bool]:
    """Tell whether all gradients have the inputs' sizes, and whether they have their dtypes."""
    pairs = [(found._array, tensor._array) for column in columns
             for found, tensor in zip(column, differentiable(inputs)) if found is not None]
    return all(a.shape == b.shape for a, b in pairs), all(a.dtype == b.dtype for a, b in pairs)


def same_within(jacobians: Sequence[Array], others: Sequence[Array], tolerance: float) -> bool:
    """Tell whether no two elements lie further apart than `tolerance`."""
    return not any(a.size and np.abs(a - b).max() > tolerance for a, b in zip(jacobians, others))
