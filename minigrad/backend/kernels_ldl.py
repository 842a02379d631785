"""Factors of symmetric matrices that may be indefinite: A = L D L.T.

D has blocks of one or two rows on its diagonal; it needs a block of two where no diagonal element
is large enough to divide by.  The result has the layout of LAPACK's routine sytrf for the lower
triangle.

Source: Bunch and Kaufman, "Some stable methods for calculating inertia and solving symmetric linear
systems" (1977)
"""

import math
from typing import Any

Array = Any

__all__ = ["ldl_factor", "ldl_solve"]

#: A diagonal element is large enough from this fraction of the largest one in its column.
ALPHA = (1 + math.sqrt(17)) / 8


def ldl_factor(xp: Any, A: Array) -> tuple[Array, Array, Array]:
    """Return L and D in one matrix, the pivots, and the position of D's first zero, for a batch.

    It reads only lower triangles.  Pivots count from 1; a block of two repeats its pivot, negated.

    >>> ldl_factor(numpy, numpy.array([[0.0, 0], [2, 0]]))
    (array([[0., 0.],
           [2., 0.]]), array([-2, -2], dtype=int32), array(0, dtype=int32))
    """
    *batch, n, _ = A.shape
    count = math.prod(batch)
    LD, pivots = xp.zeros((count, n, n), A.dtype), xp.zeros((count, n), "int32")
    info = xp.zeros(count, "int32")
    for i, matrix in enumerate(A.reshape(count, n, n)):
        lower = xp.tril(matrix)
        rest, done = lower + xp.tril(lower, -1).T, 0
        while done < n:
            size, chosen, zero = pivot_block(xp, rest)
            if zero and not info[i].item():
                info[i] = done + 1
            exchange(rest, size - 1, chosen)
            block, below = rest[:size, :size], rest[size:, :size]
            factor = below if zero else xp.linalg.solve(block, below.T).T
            end = done + size
            LD[i, done:end, done:end], LD[i, end:, done:end] = xp.tril(block), factor
            pivots[i, done:end] = (done + chosen + 1) * (1 if size == 1 else -1)
            rest, done = rest[size:, size:] - factor @ below.T, end
    return LD.reshape(A.shape), pivots.reshape(A.shape[:-1]), info.reshape(tuple(batch))


def pivot_block(xp: Any, rest: Array) -> tuple[int, int, bool]:
    """Return the size of the next block, the row that becomes its last, and if it is zero."""
    first, column = abs(rest[0, 0].item()), xp.absolute(rest[1:, 0])
    row = 1 + xp.argmax(column).item() if len(column) else 0
    largest = column[row - 1].item() if row else 0.0
    if max(first, largest) == 0 or math.isnan(first):
        return 1, 0, True
    if first >= ALPHA * largest:
        return 1, 0, False
    beside = xp.absolute(rest[row])
    beside[row] = 0
    widest = beside.max().item()
    if first >= ALPHA * largest * (largest / widest):
        return 1, 0, False
    return (1 if abs(rest[row, row].item()) >= ALPHA * widest else 2), row, False


def exchange(rest: Array, i: int, j: int) -> None:
    """Swap two rows of a symmetric matrix, and the same columns."""
    rest[[i, j]] = rest[[j, i]]
    rest[:, [i, j]] = rest[:, [j, i]]


def ldl_solve(xp: Any, LD: Array, pivots: Array, B: Array) -> Array:
    """Solve A X = B for a batch of matrices factored by `ldl_factor`.

    >>> LD, pivots = numpy.array([[0.0, 0], [2, 0]]), numpy.array([-2, -2])
    >>> ldl_solve(numpy, LD, pivots, numpy.array([[2.0], [4.0]]))
    array([[2.],
           [1.]])
    """
    *batch, n, k = B.shape
    count = math.prod(batch)
    X = B.reshape(count, n, k).copy()
    for x, factors, steps in zip(X, LD.reshape(count, n, n), pivots.reshape(count, n), strict=True):
        chosen = steps.tolist()
        starts = block_starts(chosen)
        for at, end in starts:
            exchange_rows(x, end - 1, abs(chosen[at]) - 1)
            x[end:] -= factors[end:, at:end] @ x[at:end]
            block = xp.tril(factors[at:end, at:end])
            block = block + xp.tril(block, -1).T
            x[at:end] = x[at:end] / block if end == at + 1 else xp.linalg.solve(block, x[at:end])
        for at, end in reversed(starts):
            x[at:end] -= factors[end:, at:end].T @ x[end:]
            exchange_rows(x, end - 1, abs(chosen[at]) - 1)
    return X.reshape(B.shape)


def block_starts(pivots: list[int]) -> list[tuple[int, int]]:
    """Return the start and end of each block of D.

    >>> block_starts([1, -3, -3])
    [(0, 1), (1, 3)]
    """
    found, at = [], 0
    while at < len(pivots):
        end = at + (1 if pivots[at] > 0 else 2)
        found.append((at, end))
        at = end
    return found


def exchange_rows(x: Array, i: int, j: int) -> None:
    """Swap two rows."""
    x[[i, j]] = x[[j, i]]
