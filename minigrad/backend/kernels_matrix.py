"""Solvers of linear systems that also accept singular matrices, as LAPACK's routines do.

NumPy's `solve` raises where a matrix is singular.  PyTorch's backward passes and its triangular
solver divide by the zero instead, and the result has infinities or NaN there.
"""

from typing import Any

import numpy as np

Array = Any

__all__ = ["lu_factor", "lu_solve", "solve_triangular"]


def solve_triangular(xp: Any, A: Array, B: Array, upper: bool, unitriangular: bool) -> Array:
    """Solve A X = B by substitution, row by row; only one triangle of A is read.

    >>> solve_triangular(numpy, numpy.array([[2.0, 9], [1, 0]]), numpy.ones((2, 1)), False, False)
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


def lu_factor(xp: Any, matrix: Array) -> tuple[Array, list[int]]:
    """Return L (without its diagonal of ones) and U in one matrix, and the order of A's rows.

    >>> lu_factor(numpy, numpy.array([[0.0, 1], [2, 3]]))
    (array([[2., 3.],
           [0., 1.]]), [1, 0])
    """
    lu, rows = matrix.copy(), list(range(len(matrix)))
    for k in rows[:]:
        pivot = k + xp.argmax(xp.abs(lu[k:, k])).item()
        lu[[k, pivot]] = lu[[pivot, k]]
        rows[k], rows[pivot] = rows[pivot], rows[k]
        if lu[k, k] != 0:
            lu[k + 1 :, k] /= lu[k, k]
            lu[k + 1 :, k + 1 :] -= lu[k + 1 :, k : k + 1] * lu[k, k + 1 :]
    return lu, rows


def lu_solve(xp: Any, A: Array, B: Array) -> Array:
    """Solve A X = B for a batch of matrices, some of them singular.

    >>> lu_solve(numpy, numpy.zeros((2, 2)), numpy.array([[1.0], [0.0]]))
    array([[nan],
           [nan]])
    """
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    X = xp.empty((*batch, *B.shape[-2:]), B.dtype)
    A, B = xp.broadcast_to(A, (*batch, *A.shape[-2:])), xp.broadcast_to(B, X.shape)
    for at in np.ndindex(batch):
        lu, rows = lu_factor(xp, A[at])
        Y = solve_triangular(xp, lu, B[at][rows], False, True)
        X[at] = solve_triangular(xp, lu, Y, True, False)
    return X
