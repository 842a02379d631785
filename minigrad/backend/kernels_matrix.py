"""Batched matrix products, and solvers that accept singular matrices, like LAPACK's.

NumPy's `solve` raises if a matrix is singular.  PyTorch's backward passes and its triangular solver
divide by the zero instead, so the result has infinities or NaN there.
"""

import math
from typing import Any

import numpy as np

Array = Any

__all__ = ["bmm", "lu_factor", "lu_solve", "row_order", "solve_triangular"]


def bmm(xp: Any, a: Array, b: Array) -> Array:
    """Return the products of two batches of matrices.

    For a column times a row, which needs no sums, `matmul` takes four times as long as `multiply`.

    >>> bmm(numpy, numpy.ones((2, 3, 1)), numpy.ones((2, 1, 4))).shape
    (2, 3, 4)
    """
    if a.shape[-1] != 1:
        return xp.matmul(a, b)
    out = xp.empty((*a.shape[:-1], b.shape[-1]), xp.result_type(a, b))  # row-major, like `matmul`'s
    return xp.multiply(a, b, out=out)


def solve_triangular(xp: Any, A: Array, B: Array, upper: bool, unitriangular: bool) -> Array:
    """Solve A X = B by substitution, row by row, reading only one triangle of A.

    >>> with numpy.errstate(all="ignore"):  # as in an op
    ...     solve_triangular(
    ...         numpy, numpy.array([[2.0, 9], [1, 0]]), numpy.ones((2, 1)), False, False)
    array([[0.5],
           [inf]])
    """
    n = A.shape[-1]
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    X = xp.empty((*batch, *B.shape[-2:]), B.dtype)
    for i in reversed(range(n)) if upper else range(n):
        known = slice(i + 1, n) if upper else slice(0, i)
        row = B[..., i : i + 1, :] - A[..., i : i + 1, known] @ X[..., known, :]
        X[..., i : i + 1, :] = row if unitriangular else row / A[..., i : i + 1, i : i + 1]
    return X


def lu_factor(xp: Any, A: Array) -> tuple[Array, Array]:
    """Return L (without its diagonal of ones) and U in one matrix, and the pivots, for a batch.

    Step j swapped row j with row `pivots[j]`, counted from 1.  The steps follow Crout's order:
    column j is updated when it is needed, then row j.

    >>> lu_factor(numpy, numpy.array([[0.0, 1], [2, 3]]))
    (array([[2., 3.],
           [0., 1.]]), array([2, 2], dtype=int32))
    """
    *batch, m, n = A.shape
    lu, steps = A.reshape(math.prod(batch), m, n).copy(), min(m, n)
    each, pivots = xp.arange(len(lu)), xp.empty((len(lu), steps), "int32")
    for j in range(steps):
        lu[:, j:, j:j + 1] -= lu[:, j:, :j] @ lu[:, :j, j:j + 1]
        largest = j + xp.argmax(xp.absolute(lu[:, j:, j]), axis=1)
        pivots[:, j] = largest + 1
        lu[each, largest], lu[:, j] = lu[:, j].copy(), lu[each, largest]
        lu[:, j:j + 1, j + 1:] -= lu[:, j:j + 1, :j] @ lu[:, :j, j + 1:]
        pivot = lu[:, j, j, None]
        lu[:, j + 1:, j] /= xp.where(pivot == 0, 1, pivot)  # all below is 0 too
    return lu.reshape(A.shape), pivots.reshape(*batch, steps)


def row_order(xp: Any, pivots: Array, m: int) -> Array:
    """Return the row order of `m` rows after the swaps that `lu_factor` made.

    >>> row_order(numpy, numpy.array([2, 3]), 3)
    array([1, 2, 0])
    """
    *batch, steps = pivots.shape
    flat = pivots.reshape(math.prod(batch), steps) - 1
    order = xp.zeros((len(flat), m), "int64") + xp.arange(m)
    each = xp.arange(len(flat))
    for j in range(steps):
        other = flat[:, j]
        order[each, other], order[:, j] = order[:, j].copy(), order[each, other]
    return order.reshape(*batch, m)


def lu_solve(xp: Any, A: Array, B: Array) -> Array:
    """Solve A X = B for a batch of matrices, some of which may be singular.

    >>> with numpy.errstate(all="ignore"):  # as in an op
    ...     lu_solve(numpy, numpy.zeros((2, 2)), numpy.array([[1.0], [0.0]]))
    array([[nan],
           [nan]])
    """
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    lu, pivots = lu_factor(xp, A)
    order = xp.broadcast_to(row_order(xp, pivots, A.shape[-1]), (*batch, A.shape[-1]))
    B = xp.take_along_axis(xp.broadcast_to(B, (*batch, *B.shape[-2:])), order[..., None], -2)
    return solve_triangular(xp, lu, solve_triangular(xp, lu, B, False, True), True, False)
