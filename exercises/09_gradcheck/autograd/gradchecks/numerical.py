# Stage 09, gradcheck: the exercise for minigrad/autograd/gradchecks/numerical.py.
# Made by `minigrad dev build`. The lesson is lessons/09_gradcheck.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 09
# Names of the package's inside are explained in docs/en/glossary.md.

"""The jacobian of a function by central differences, by backward passes and by forward mode.

Central differences move each element of an input a little to either side: that gives the numerical
jacobian row by row.  Forward mode gives the rows too, with one tangent for each element; backward
gives the columns, with one pass for each element of an output.  In all of them the rows belong to
the input's elements and the columns to the output's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...backend import backend_of
from ...dtypes import from_numpy_dtype
from ...tensor.attributes import Size
from ...tensor.tensor import Tensor
from ..backward import grad
from ..forward_ad import dual_at, unpacked_at
from ..forward_mode.tangents import TangentLevel

Array = Any
Function = Callable[..., Any]
#: For each element of an output, its gradient with respect to each input that requires grad.
Columns = Sequence[Sequence[Tensor | None]]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when the derivatives differ."""


class Tolerances(NamedTuple):
    """The options of a comparison by `gradcheck`."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


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
    """Return the numerical jacobian of each result for each input that requires grad.

    The input is changed in its own memory, without counting versions.
    """
    # 09.1 The jacobian by central differences (about 17 lines)
    # For each of `inputs` that requires grad (`differentiable(inputs)`) return a list
    # with one array for each of `results`, the tensors that `func(*inputs)` gave before.
    # The array has a row for each element of the input and a column for each element of
    # the result, both counted row by row, and the result's dtype: (result at x + eps -
    # result at x - eps) / (2 eps), with only that one element of that one input moved.
    # Write into the input's own memory, `tensor._array`, behind the back of the version
    # counter, and put the old value back before you go on. Call `func(*inputs)` for each
    # side (`as_tuple` makes a tuple of what it returns) and keep copies of the values
    # (`host`), because a result may be a view of the input. For each result call
    # `check_alike(below, above, place, eps)`, where `place` is the element's index, as
    # from `np.ndindex`. Rows of results that are not floating point stay zero.
    raise NotImplementedError("09.1 The jacobian by central differences is yours to write")


def check_alike(below: Array, above: Array, place: tuple[int, ...] | None, eps: float) -> None:
    """Raise if shape or dtype of a result changes with the input's value at `place`."""
    shapes, types = (below.shape, above.shape), (below.dtype, above.dtype)
    if shapes[0] != shapes[1]:
        what, (a, b) = "shape", map(str, map(Size, shapes))
    elif types[0] != types[1]:
        what, (a, b) = "dtype", (str(from_numpy_dtype(t)) for t in types)
    else:
        return
    where = "" if place is None else f"on index {place} "
    raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are "
                         f"perturbed {where}by {eps}, but got: {what}s {a} and {b}.")


def jacobian_columns(inputs: Sequence[Any], output: Tensor) -> Columns:
    """Return the gradients of each element of `output` for each input that requires grad."""
    # 09.2 The jacobian by backward (about 18 lines)
    # `jacobian_columns(inputs, output)`: for each element of `output`, row by row, a list
    # with the gradient of that element by each input that requires grad, as a tensor with
    # memory of its own, or None where the input was not used. It calls `grad(output,
    # goals, one_hot, True, allow_unused=True)` with a tensor that is one at this element
    # and zero elsewhere; `True` keeps the graph for the next call. Hand over a fresh copy
    # each time, for the engine may pass it through to the end. `assembled(inputs,
    # columns)`: for each input that requires grad the jacobian as an array of the input's
    # dtype, with the input's elements as rows (a matrix counts row by row) and one column
    # for each of `columns`. The column of a missing gradient, or of one whose shape is
    # not the input's, stays zero.
    raise NotImplementedError("09.2 The jacobian by backward is yours to write")


def assembled(inputs: Sequence[Any], columns: Columns) -> list[Array]:
    """Return the jacobian for each input; gradients missing or of a wrong size are zero."""
    # 09.2 The jacobian by backward: see the task at `jacobian_columns`.
    raise NotImplementedError("09.2 The jacobian by backward is yours to write")


def analytical_jacobians(inputs: Sequence[Any], output: Tensor, limits: Tolerances,
                         columns_of: Callable[..., Columns] = jacobian_columns) -> list[Array]:
    """Return the jacobian of `output` for each input, by backward; run twice, to compare."""
    columns = columns_of(inputs, output)
    jacobians = assembled(inputs, columns)
    again = assembled(inputs, columns_of(inputs, output))
    sizes, dtypes = fits(inputs, columns)
    if limits.check_grad_dtypes and not dtypes:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not same_within(jacobians, again, limits.nondet_tol):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches numerical "
            f"gradient.The tolerance for nondeterminism was {limits.nondet_tol}.")
    return jacobians


def fits(inputs: Sequence[Any], columns: Columns) -> tuple[bool, bool]:
    """Return two flags: all gradients have their inputs' sizes, all have their dtypes."""
    pairs = [(found._array, tensor._array) for column in columns
             for found, tensor in zip(column, differentiable(inputs)) if found is not None]
    return all(a.shape == b.shape for a, b in pairs), all(a.dtype == b.dtype for a, b in pairs)


def same_within(jacobians: Sequence[Array], others: Sequence[Array], tolerance: float) -> bool:
    """Tell whether corresponding elements differ by at most `tolerance`."""
    return not any(a.size and np.abs(a - b).max() > tolerance for a, b in zip(jacobians, others))


def forward_jacobians(func: Function, inputs: Sequence[Any], results: Sequence[Any],
                      limits: Tolerances) -> list[list[Array]]:
    """Return the jacobian of each result for each input that requires grad, by forward mode."""
    jacobians = []
    for which, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            continue
        by_input = [np.zeros((tensor._array.size, r._array.size), r._array.dtype) for r in results]
        for row, place in enumerate(np.ndindex(tensor._array.shape)):
            one_hot = backend_of(tensor._array).zeros(tensor._array.shape, tensor._array.dtype)
            one_hot[place] = 1
            found = tangents_of(func, inputs, which, one_hot, limits)
            for jacobian, tangent in zip(by_input, found, strict=True):
                if tangent is not None:
                    jacobian[row] = tangent.reshape(-1)
        jacobians.append(by_input)
    return jacobians


def tangents_of(func: Function, inputs: Sequence[Any], which: int, direction: Array,
                limits: Tolerances) -> list[Array | None]:
    """Return the tangents of the results for the tangent `direction` of one input."""
    with TangentLevel() as level:
        given = list(inputs)
        for i, tensor in enumerate(inputs):
            if isinstance(tensor, Tensor) and tensor.requires_grad:
                zeros = backend_of(tensor._array).zeros_like(tensor._array)
                tangent = Tensor._plain(direction if i == which else zeros)
                given[i] = dual_at(level, tensor.detach(), tangent)
        tangents: list[Array | None] = []
        for result in as_tuple(func(*given)):
            _, found = unpacked_at(level, result)
            if limits.check_grad_dtypes and found is not None and found.dtype != result.dtype:
                raise GradcheckError("Forward AD gradient has dtype mismatch.")
            tangents.append(None if found is None else host(found))
        return tangents


def check_equal(analytical: Array, numerical: Array, output: int, given: int, limits: Tolerances,
                forward: bool, advice: Callable[[], str] = str) -> None:
    """Raise, with both of them and `advice()`, unless two jacobians are equal."""
    # 09.3 Comparing (about 18 lines)
    # `check_equal(analytical, numerical, output, given, limits, forward, advice)` returns
    # None where every element satisfies |analytical - numerical| <= limits.atol +
    # limits.rtol * |numerical|; NaN satisfies nothing. Otherwise it raises GradcheckError
    # with the text "Jacobian mismatch for output {output} with respect to input
    # {given},\nnumerical:{...}\nanalytical:{...}\n", both jacobians printed as tensors
    # (`Tensor._plain`), followed by what `advice()` returns; if `forward`, the text
    # begins "Jacobian computed with forward mode mismatch for output ...".
    # `check_slow(func, inputs, limits, results, forward)` compares, for every result that
    # requires grad and every input that does, the jacobian of the engine with the
    # numerical one, `numerical_jacobians(func, inputs, results,
    # limits.eps)[input][position in results]`. The engine's come from
    # `analytical_jacobians(inputs, result, limits)`, a list with one for each input; if
    # `forward`, from `forward_jacobians(func, inputs, results, limits)`, built like the
    # numerical ones. The output's number in the error counts the results that require
    # grad. Where no result requires grad, `check_is_constant(numerical, 0.0)` is called
    # and nothing else.
    raise NotImplementedError("09.3 Comparing is yours to write")


def check_is_constant(jacobians: Sequence[Sequence[Array]], tolerance: float) -> None:
    """Raise if a function without differentiable outputs varies with its inputs."""
    if any((np.abs(jacobian) > tolerance).any() for row in jacobians for jacobian in row):
        raise GradcheckError("Numerical gradient for function expected to be zero")
