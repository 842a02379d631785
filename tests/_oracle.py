"""Derivatives and comparisons from NumPy alone: what tests trust instead of the package.

A function under test is a plain callable `fn(*arrays)` from float64 arrays to one array.  It is
always called with fresh copies, so it may write into its arguments.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

__all__ = [
    "assert_close",
    "central_difference_vjp",
    "numerical_jacobian",
    "second_order_vjp",
    "slip",
]


def _call(fn: Function, arrays: Sequence[Array]) -> Array:
    return np.array(fn(*[array.copy() for array in arrays]), np.float64)


def _doubles(arrays: Sequence[Any]) -> list[Array]:
    return [np.array(array, np.float64) for array in arrays]


def _moved(arrays: Sequence[Array], which: int, place: tuple[int, ...], by: float) -> list[Array]:
    moved = [array.copy() for array in arrays]
    moved[which][place] += by
    return moved


def numerical_jacobian(fn: Function, arrays: Sequence[Any], eps: float = 1e-6) -> list[Array]:
    """d fn / d array for each of `arrays` by central differences: (*output, *array) each.

    >>> numerical_jacobian(lambda x: x * x, [[1.0, 3.0]])[0].round(6).tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    """
    arrays = _doubles(arrays)
    output = _call(fn, arrays)
    jacobians = []
    for which, array in enumerate(arrays):
        jacobian = np.empty(output.shape + array.shape)
        for place in np.ndindex(array.shape):
            above = _call(fn, _moved(arrays, which, place, eps))
            below = _call(fn, _moved(arrays, which, place, -eps))
            jacobian[(..., *place)] = (above - below) / (2 * eps)
        jacobians.append(jacobian)
    return jacobians


def central_difference_vjp(
    fn: Function, arrays: Sequence[Any], grad_output: Any, eps: float = 1e-6
) -> list[Array]:
    """The gradient of `sum(fn(*arrays) * grad_output)` by each array: what backward computes.

    >>> central_difference_vjp(lambda x: x * x, [[1.0, 3.0]], [1.0, 10.0])[0].round(6).tolist()
    [2.0, 60.0]
    """
    g = np.asarray(grad_output, np.float64)
    jacobians = numerical_jacobian(fn, arrays, eps)
    for jacobian in jacobians:
        assert jacobian.shape[: g.ndim] == g.shape, "grad_output must have the output's shape"
    return [np.tensordot(g, jacobian, g.ndim) for jacobian in jacobians]


def second_order_vjp(
    fn: Function,
    arrays: Sequence[Any],
    grad_output: Any,
    grad_grads: Sequence[Any],
    eps: float = 1e-4,
) -> tuple[list[Array], Array]:
    """What a double backward computes: gradients by each array, and by `grad_output`.

    With `grads = vjp(fn, arrays, grad_output)`, these are the derivatives of
    `sum(sum(grad * v) for grad, v in zip(grads, grad_grads))`.  That sum is `grad_output` times the
    slope of `fn` along `grad_grads`, so plain differences of `fn` give both, to about 1e-6.

    >>> by_x, by_g = second_order_vjp(lambda x: x**3, [[2.0]], [5.0], [[1.0]])
    >>> by_x[0].round(5).tolist(), by_g.round(5).tolist()
    ([60.0], [12.0])
    """
    arrays, directions = _doubles(arrays), _doubles(grad_grads)
    assert [a.shape for a in arrays] == [v.shape for v in directions]

    def slope(*at: Array) -> Array:
        above = _call(fn, [a + eps * v for a, v in zip(at, directions)])
        below = _call(fn, [a - eps * v for a, v in zip(at, directions)])
        return (above - below) / (2 * eps)

    return central_difference_vjp(slope, arrays, grad_output, eps), slope(*arrays)


def assert_close(
    actual: Any, expected: Any, rtol: float = 1e-6, atol: float = 1e-8, what: str = "result"
) -> None:
    """Raises AssertionError, naming the worst element, unless shapes match and values are close.

    NaN equals NaN, and an infinity only itself.

    >>> assert_close([1.0, 2.0], [1.0, 2.5])
    Traceback (most recent call last):
        ...
    AssertionError: result: 1 of 2 elements differ; the worst at (1,): got 2.0, expected 2.5
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    told = slip(actual, expected)
    told = told and f"; {told}"
    if actual.shape != expected.shape:
        raise AssertionError(f"{what}: got shape {actual.shape}, expected {expected.shape}{told}")
    apart = ~np.isclose(actual, expected, rtol, atol, equal_nan=True)
    if not apart.any():
        return
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is dealt with below
        distance = np.abs(np.subtract(actual, expected, dtype=np.float64))
    distance = np.where(np.isnan(distance), np.inf, distance)
    worst = tuple(int(i) for i in np.argwhere(apart)[np.argmax(distance[apart])])
    raise AssertionError(
        f"{what}: {int(apart.sum())} of {apart.size} elements differ; the worst at {worst}: "
        f"got {actual[worst]}, expected {expected[worst]}{told}"
    )


def slip(actual: Any, expected: Any) -> str:
    """Say how all of one array's numbers come from another's; "" where nothing simple does it.

    One of several explanations is none: with a single number only a lost or another sign is told.

    >>> slip([-2.0, 4.0, -6.0], [1.0, -2.0, 3.0])
    'every element is -2 times what is expected'
    >>> slip([[1.0, 3.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]])
    'it is transposed'
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.dtype.kind not in "iuf" or expected.dtype.kind not in "iuf" or not actual.size:
        return ""
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    if not (np.isfinite(actual).all() and np.isfinite(expected).all()) or _near(actual, expected):
        return ""
    if _near(actual, 0 * expected):
        return "every element is 0"
    if _near(actual, -expected):
        return "every element has the other sign"
    if _near(actual, np.abs(expected)):
        return "every element has lost its sign"
    if actual.ndim == 2 and _near(actual.T, expected):
        return "it is transposed"
    if actual.shape != expected.shape or np.ptp(expected) < 1e-3:
        return ""
    told = [words for ours, words in (
        (expected**2, "every element is the square of what is expected"),
        (np.sqrt(np.abs(expected)), "every element is the square root of what is expected"),
        (expected + np.mean(actual - expected), "every element is "
         f"{np.mean(actual - expected):+.4g} away from what is expected"),
        (np.flip(expected), "the elements come in reverse order"),
    ) if _near(actual, ours)]
    times = Fraction(float((actual * expected).sum() / (expected**2).sum())).limit_denominator(64)
    if times and _near(actual, float(times) * expected):
        shown = times if times.denominator <= 12 else f"{float(times):.4g}"
        told.append(f"every element is {shown} times what is expected")
    if not told and _near(np.sort(actual, None), np.sort(expected, None)):
        return "the elements are right but in another order"
    return told[0] if len(told) == 1 else ""


def _near(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, 1e-4, 1e-6))
