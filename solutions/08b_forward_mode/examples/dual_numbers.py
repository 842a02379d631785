# Stage 08b, Forward mode and batches: the solution for minigrad/examples/dual_numbers.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Dual numbers: a value and its tangent pass through a calculation together.

>>> x = Dual(3.0, 1.0)
>>> x * x + 2 * x
Dual(value=15.0, tangent=8.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Dual", "add", "exp", "jacobian_vector_product", "mul", "reciprocal"]


@dataclass(frozen=True, slots=True)
class Dual:
    """A number and its tangent: how fast it changes as the inputs move."""

    value: float
    tangent: float = 0.0

    def __add__(self, other: Dual | float) -> Dual:
        return add(self, _dual(other))

    def __mul__(self, other: Dual | float) -> Dual:
        return mul(self, _dual(other))

    def __sub__(self, other: Dual | float) -> Dual:
        return self + _dual(other) * -1.0

    def __truediv__(self, other: Dual | float) -> Dual:
        return self * reciprocal(_dual(other))

    def __rsub__(self, other: float) -> Dual:
        return self * -1.0 + other

    def __rtruediv__(self, other: float) -> Dual:
        return reciprocal(self) * other

    def __neg__(self) -> Dual:
        return self * -1.0

    __radd__, __rmul__ = __add__, __mul__


def _dual(value: Dual | float) -> Dual:
    return value if isinstance(value, Dual) else Dual(float(value))


def add(a: Dual, b: Dual) -> Dual:
    """Return `a + b` and its tangent: the tangents add up.

    >>> add(Dual(3.0, 1.0), Dual(4.0, 10.0))
    Dual(value=7.0, tangent=11.0)
    """
    return Dual(a.value + b.value, a.tangent + b.tangent)


def mul(a: Dual, b: Dual) -> Dual:
    """Return `a * b` and its tangent, by the product rule.

    >>> mul(Dual(3.0, 1.0), Dual(4.0, 10.0))
    Dual(value=12.0, tangent=34.0)
    """
    return Dual(a.value * b.value, a.tangent * b.value + a.value * b.tangent)


def exp(a: Dual) -> Dual:
    """Return `e**a` and its tangent."""
    result = math.exp(a.value)
    return Dual(result, result * a.tangent)


def reciprocal(a: Dual) -> Dual:
    """Return `1 / a` and its tangent.

    >>> reciprocal(Dual(4.0, 16.0))
    Dual(value=0.25, tangent=-1.0)
    """
    result = 1 / a.value
    return Dual(result, -result * result * a.tangent)


def jacobian_vector_product(f: Callable[..., Dual], point: Sequence[float],
                            direction: Sequence[float]) -> tuple[float, float]:
    """Return the value of `f` at a point, and its derivative along a direction, with one run.

    >>> jacobian_vector_product(lambda x, y: x * y + x, (3.0, 4.0), (1.0, 10.0))
    (15.0, 35.0)
    """
    result = f(*[Dual(x, t) for x, t in zip(point, direction, strict=True)])
    return result.value, result.tangent
