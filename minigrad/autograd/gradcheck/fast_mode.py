"""The fast mode of `gradcheck` compares one number for each pair of output and input.

NOTE [Random combinations]
    A jacobian J (rows: input, columns: output) is right, almost surely, if `u^T J v` is right for
    random vectors u and v.  Two evaluations of the function give all `u^T J`; one backward pass
    gives `J v`, and forward mode `u^T J`.  The vectors have no negative elements, so that
    tolerances carry over: |u^T (A - B) v| <= atol * sum(u) * sum(v) if each element is off by at
    most atol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...device import beside
from ...tensor.tensor import Tensor
from ..backward import grad
from .numerical import (
    Tolerances,
    analytical_jacobians,
    as_tuple,
    check_alike,
    check_equal,
    check_is_constant,
    differentiable,
    forward_jacobians,
    host,
    numerical_jacobians,
    tangents_of,
)

Array = Any
Function = Callable[..., Any]

SLOW_MODE_PASSES = """
Fast gradcheck failed but element-wise differences are small. This means that the
test might've passed in slow_mode!

Call gradcheck or gradgradcheck with `fast_mode=False` to compare the jacobians themselves.
"""


def check_fast(func: Function, inputs: Sequence[Any], limits: Tolerances, results: Sequence[Any],
               forward: bool) -> None:
    """Raise unless random combinations of the jacobians agree; see NOTE [Random combinations]."""
    rng = np.random.default_rng(0)  # leave the user's random numbers alone
    where = [i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad]
    positions = [i for i, r in enumerate(results) if isinstance(r, Tensor) and r.requires_grad]
    us = [random_vector(rng, inputs[i]._array) for i in where]
    vs = {i: random_vector(rng, results[i]._array) for i in positions}
    numerical = [numerical_slopes(func, inputs, i, u, limits.eps)
                 for i, u in zip(where, us, strict=True)]
    if not positions:
        check_is_constant(numerical, limits.nondet_tol)
        return
    by_forward = []
    if forward:
        for i, u in zip(where, us, strict=True):
            direction = beside(inputs[i]._array, u.reshape(inputs[i]._array.shape))
            by_forward.append(tangents_of(func, inputs, i, direction, limits))
    for i, position in enumerate(positions):
        v = vs[position]
        if not forward:
            products = analytical_jacobians(inputs, results[position], limits, one_column(v))
        for j, u in enumerate(us):
            if forward:
                scale, expected = 1.0, numerical[j][position]
                tangent = by_forward[j][position]
                found = np.zeros_like(expected) if tangent is None else tangent.reshape(-1)
            else:
                scale, expected = v.sum(), np.asarray((numerical[j][position] * v).sum())
                found = np.asarray((products[j][:, 0] * u).sum())
            scaled = limits._replace(atol=float(limits.atol * u.sum() * scale))
            check_equal(found, expected, i, j, scaled, forward,
                        partial(in_full, func, inputs, results, position, j, limits, forward))


def random_vector(rng: np.random.Generator, like: Array) -> Array:
    """Return a flat vector of length one without negative elements."""
    values = rng.random(like.size).astype(like.dtype)
    return values / np.linalg.norm(values) if like.size else values


def numerical_slopes(func: Function, inputs: Sequence[Any], which: int, u: Array,
                     eps: float) -> list[Array]:
    """Return the slope of each result along `u` in one input, by central differences."""
    array = inputs[which]._array
    kept, step = array.copy(), beside(array, np.asarray(eps * u.reshape(array.shape)))
    below_and_above = []
    for moved in (kept - step, kept + step):
        array[...] = moved
        below_and_above.append([host(r) for r in as_tuple(func(*inputs))])
    array[...] = kept
    slopes = []
    for below, above in zip(*below_and_above, strict=True):
        check_alike(below, above, None, eps)
        difference = (above - below) if above.dtype.kind == "f" else np.zeros(above.shape)
        slopes.append((difference / (2 * eps)).reshape(-1))
    return slopes


def one_column(v: Array) -> Callable[..., Any]:
    """Return a function that computes one combination of the jacobians' columns by backward."""

    def columns(inputs: Sequence[Any], output: Tensor) -> Any:
        given = beside(output._array, v.reshape(output._array.shape))
        found = grad(output, differentiable(inputs), Tensor._plain(given), True, allow_unused=True)
        return [[None if g is None else Tensor._plain(g._array.copy()) for g in found]]

    return columns


def in_full(func: Function, inputs: Sequence[Any], results: Sequence[Any], position: int,
            given: int, limits: Tolerances, forward: bool) -> str:
    """Return the jacobians as text, and whether they would have passed."""
    numerical = numerical_jacobians(func, inputs, results, limits.eps)[given][position]
    if forward:
        analytical = forward_jacobians(func, inputs, results, limits)[given][position]
    else:
        lenient = limits._replace(nondet_tol=np.inf, check_grad_dtypes=False)
        analytical = analytical_jacobians(inputs, results[position], lenient)[given]
    worst = Tensor._plain(np.asarray(np.abs(numerical - analytical).max()))
    passes = np.allclose(analytical, numerical, limits.rtol, limits.atol)
    return ("\nThe above quantities relating the numerical and analytical jacobians are computed \n"
            "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more "
            "background \nabout fast mode. Below, we recompute numerical and analytical jacobians "
            f"in slow mode:\n\nNumerical:\n {Tensor._plain(numerical)}\n"
            f"Analytical:\n{Tensor._plain(analytical)}\n\n"
            f"The max per-element difference (slow mode) is: {worst}.\n"
            + (SLOW_MODE_PASSES if passes else ""))
