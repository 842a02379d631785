# Stage 09, gradcheck: the exercise for minigrad/autograd/gradcheck/numerical.py.
# Made by `minigrad dev build`. The lesson is lessons/09_gradcheck.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 09
# docs/en/glossary.md explains the names used inside the package.

"""The jacobian of a function by central differences, by backward passes and by forward mode.

Central differences move each element of an input a little to either side, which gives the numerical
jacobian row by row.  Forward mode also gives rows, with one tangent for each element; backward
gives columns, with one pass for each element of an output.  In all cases the rows belong to the
input's elements and the columns to the output's.
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
from ..forward_ad.dual_tensors import dual_at, unpacked_at
from ..forward_ad.tangents import TangentLevel

Array = Any
Function = Callable[..., Any]
#: For each element of an output, its gradient with respect to each input that requires grad.
Columns = Sequence[Sequence[Tensor | None]]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` if the derivatives differ.

    >>> from minigrad import autograd, float64, tensor
    >>> def double(x):
    ...     return x + x.detach()  # its gradient misses one half
    >>> x = tensor([1.0], dtype=float64, requires_grad=True)
    >>> try:
    ...     autograd.gradcheck(double, (x,))
    ... except GradcheckError as error:
    ...     print(str(error).splitlines()[0])
    Jacobian mismatch for output 0 with respect to input 0,
    """


class Tolerances(NamedTuple):
    """The options of a comparison by `gradcheck`."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


def as_tuple(values: Any) -> tuple[Any, ...]:
    """Return a tuple or list as a tuple, and any other value as a tuple of one item."""
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def differentiable(values: Sequence[Any]) -> tuple[Tensor, ...]:
    """Return the tensors among `values` that require grad."""
    return tuple(v for v in values if isinstance(v, Tensor) and v.requires_grad)


def host(tensor: Any) -> Array:
    """Return a copy of a tensor's values in NumPy."""
    return np.array(backend_of(tensor._array).to_host(tensor._array))


def numerical_jacobians(func: Function, inputs: Sequence[Any], results: Sequence[Any],
                        eps: float) -> list[list[Array]]:
    """Return the numerical jacobian of each result for each input that requires grad.

    It changes the inputs' memory, without counting versions.
    """
    # 09.1 The jacobian by central differences (about 17 lines)
    # Return, for each input that requires grad, the jacobians of all `results`. Row i,
    # column j is the slope of result element j with respect to input element i; elements
    # count row by row.
    #   # x = [1, 3] and w = [[1, 2, 3], [4, 5, 6]]
    #   numerical_jacobians(lambda x: x @ w, (x,), (x @ w,), 0.125)         -> [[w]]
    #   numerical_jacobians(lambda x: x * x * x, (x,), (x * x * x,), 0.5)
    #                                                    -> [[[[3.25, 0], [0, 27.25]]]]
    # Mind:
    # - Move one element at a time, by `eps` in each direction, in `tensor._array`, and
    #   restore its old value exactly.
    # - A result may share the input's memory.
    # - A jacobian has its result's dtype, and stays zero unless this is floating point.
    # Use: `differentiable`, `as_tuple`, `host`, `np.ndindex`; `check_alike` for every
    # result.
    raise NotImplementedError("09.1 The jacobian by central differences is yours to write")


def check_alike(below: Array, above: Array, index: tuple[int, ...] | None, eps: float) -> None:
    """Raise if shape or dtype of a result depend on the input's value at `index`."""
    shapes, types = (below.shape, above.shape), (below.dtype, above.dtype)
    if shapes[0] != shapes[1]:
        what, (a, b) = "shape", map(str, map(Size, shapes))
    elif types[0] != types[1]:
        what, (a, b) = "dtype", (str(from_numpy_dtype(t)) for t in types)
    else:
        return
    where = "" if index is None else f"on index {index} "
    raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are "
                         f"perturbed {where}by {eps}, but got: {what}s {a} and {b}.")


def jacobian_columns(inputs: Sequence[Any], output: Tensor) -> Columns:
    """Return the gradients of each element of `output` for each input that requires grad."""
    # 09.2 The jacobian by backward (about 18 lines)
    # For each element of `output`, row by row, `jacobian_columns` returns its gradient
    # for each input that requires grad, or None if that input was not used. `assembled`
    # puts such columns side by side, into a jacobian for each input.
    #   # x = [1, 3]; y is not used; c does not require grad
    #   jacobian_columns((y, c, x), x * x)             -> [[None, [2, 0]], [None, [0, 6]]]
    #   assembled((x,), [[[1, 2]], [None], [[3, 4]]])  -> [[[1, 0, 3], [2, 0, 4]]]
    # Mind:
    # - The graph can be used again afterwards.
    # - A backward may keep or return the tensor that it receives.
    # - A jacobian has its input's dtype. None, or a gradient of the wrong shape, leaves
    #   zeros.
    # Use: `grad`, `host`, `Tensor._plain(array)`.
    raise NotImplementedError("09.2 The jacobian by backward is yours to write")


def assembled(inputs: Sequence[Any], columns: Columns) -> list[Array]:
    """Assemble the jacobian for each input; missing or wrongly sized gradients become zeros."""
    # 09.2 The jacobian by backward: see the task at `jacobian_columns`.
    raise NotImplementedError("09.2 The jacobian by backward is yours to write")


def analytical_jacobians(inputs: Sequence[Any], output: Tensor, limits: Tolerances,
                         columns_of: Callable[..., Columns] = jacobian_columns) -> list[Array]:
    """Return the jacobian of `output` for each input; run backward twice and compare."""
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
    """Return whether all gradients have their inputs' sizes, and whether they have the dtypes."""
    pairs = [(found._array, tensor._array) for column in columns
             for found, tensor in zip(column, differentiable(inputs)) if found is not None]
    return all(a.shape == b.shape for a, b in pairs), all(a.dtype == b.dtype for a, b in pairs)


def same_within(jacobians: Sequence[Array], others: Sequence[Array], tolerance: float) -> bool:
    """Return whether corresponding elements differ by at most `tolerance`."""
    return not any(a.size and np.abs(a - b).max() > tolerance for a, b in zip(jacobians, others))


def forward_jacobians(func: Function, inputs: Sequence[Any], results: Sequence[Any],
                      limits: Tolerances) -> list[list[Array]]:
    """Return the jacobian of each result for each input that requires grad, by forward mode."""
    jacobians = []
    for which, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            continue
        by_input = [np.zeros((tensor._array.size, r._array.size), r._array.dtype) for r in results]
        for row, index in enumerate(np.ndindex(tensor._array.shape)):
            one_hot = backend_of(tensor._array).zeros(tensor._array.shape, tensor._array.dtype)
            one_hot[index] = 1
            found = tangents_of(func, inputs, which, one_hot, limits)
            for jacobian, tangent in zip(by_input, found, strict=True):
                if tangent is not None:
                    jacobian[row] = tangent.reshape(-1)
        jacobians.append(by_input)
    return jacobians


def tangents_of(func: Function, inputs: Sequence[Any], which: int, direction: Array,
                limits: Tolerances) -> list[Array | None]:
    """Return the tangents of the results if one input has the tangent `direction`."""
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


def nearly_equal(analytical: Array, numerical: Array, rtol: float, atol: float) -> bool:
    """Return whether all elements are close, with a tolerance relative to the numerical ones."""
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


def check_equal(analytical: Array, numerical: Array, output: int, given: int, limits: Tolerances,
                forward: bool, advice: Callable[[], str] = str) -> None:
    """Raise unless two jacobians are nearly equal; the error shows both and `advice()`."""
    if nearly_equal(analytical, numerical, limits.rtol, limits.atol):
        return
    mode = "computed with forward mode " if forward else ""
    raise GradcheckError(
        f"Jacobian {mode}mismatch for output {output} with respect to input {given},\n"
        f"numerical:{Tensor._plain(numerical)}\nanalytical:{Tensor._plain(analytical)}\n"
        + advice())


def check_is_constant(jacobians: Sequence[Sequence[Array]], tolerance: float) -> None:
    """Raise if a function without differentiable outputs varies with its inputs."""
    if any((np.abs(jacobian) > tolerance).any() for row in jacobians for jacobian in row):
        raise GradcheckError("Numerical gradient for function expected to be zero")
