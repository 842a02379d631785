# Stage 00, An engine on numbers: the solution for minigrad/tiny.py.
# Made by `minigrad dev build`. The lesson is lessons/00_chain_rule.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""An engine on plain numbers: reverse-mode differentiation on one page.

>>> a, b = Number(2.0), Number(3.0)
>>> f = a * b + a
>>> f.backward()
>>> f.value, a.grad, b.grad
(8.0, 4.0, 2.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

__all__ = ["Number", "add", "backward_order", "descend", "exp", "gradients", "mul", "reciprocal",
           "slope", "tanh"]

_serial_numbers = count()


def slope(f: Callable[[float], float], x: float, eps: float = 1e-6) -> float:
    """Estimate the derivative of `f` at `x` by a central difference.

    >>> round(slope(lambda x: x * x, 3.0), 6)
    6.0
    """
    return (f(x + eps) - f(x - eps)) / (2 * eps)


class Number:
    """A number that remembers the step that computed it.

    `inputs` are the Numbers that the step used, `slopes` its derivatives with respect to them. A
    Number without inputs is a leaf: `grad` accumulates what backward passes add to it.
    """

    def __init__(self, value: float, inputs: tuple[Number, ...] = (),
                 slopes: tuple[float, ...] = ()) -> None:
        self.value = float(value)
        self.inputs = inputs
        self.slopes = slopes
        self.grad: Any = None if inputs else 0.0
        self.serial = next(_serial_numbers)  # a step is younger than its inputs

    def __add__(self, other: Number | float) -> Number:
        return add(self, _number(other))

    def __mul__(self, other: Number | float) -> Number:
        return mul(self, _number(other))

    def __sub__(self, other: Number | float) -> Number:
        return self + _number(other) * -1.0

    def __truediv__(self, other: Number | float) -> Number:
        return self * reciprocal(_number(other))

    def __rsub__(self, other: float) -> Number:
        return self * -1.0 + other

    def __rtruediv__(self, other: float) -> Number:
        return reciprocal(self) * other

    def __neg__(self) -> Number:
        return self * -1.0

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        return f"Number({self.value:.6g})"

    def backward(self) -> None:
        """Add the derivative of this number with respect to each leaf to the leaf's `grad`.

        >>> x = Number(3.0)
        >>> (x * x).backward()
        >>> x.grad
        6.0
        """
        for number, grad in gradients(self).items():
            if not number.inputs:
                number.grad += grad


def _number(value: Number | float) -> Number:
    return value if isinstance(value, Number) else Number(value)


def add(a: Number, b: Number) -> Number:
    """Return `a + b`."""
    return Number(a.value + b.value, (a, b), (1.0, 1.0))


def mul(a: Number, b: Number) -> Number:
    """Return `a * b`."""
    return Number(a.value * b.value, (a, b), (b.value, a.value))


def exp(a: Number) -> Number:
    """Return `e**a`."""
    result = math.exp(a.value)
    return Number(result, (a,), (result,))


def tanh(a: Number) -> Number:
    """Return the hyperbolic tangent of `a`."""
    result = math.tanh(a.value)
    return Number(result, (a,), (1 - result * result,))


def reciprocal(a: Number) -> Number:
    """Return `1 / a`."""
    result = 1 / a.value
    return Number(result, (a,), (-result * result,))


def backward_order(result: Number) -> list[Number]:
    """Return `result` and the numbers that it depends on, each after all its users.

    >>> a = Number(2.0)
    >>> b = a * a
    >>> backward_order(b + a)[1:] == [b, a]
    True
    """
    seen, waiting = {result}, [result]
    while waiting:
        for each in waiting.pop().inputs:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return sorted(seen, key=lambda number: number.serial, reverse=True)


def gradients(result: Number) -> dict[Number, float]:
    """Return the derivative of `result` with respect to each number that it depends on.

    >>> a, b = Number(3.0), Number(2.0)
    >>> d = b * b
    >>> f = d + a * a * d
    >>> gradients(f)[d], gradients(f)[b]
    (10.0, 40.0)
    """
    order = backward_order(result)
    grads = dict.fromkeys(order, 0.0)
    grads[result] = 1.0
    for number in order:
        for each, local in zip(number.inputs, number.slopes, strict=True):
            grads[each] += grads[number] * local
    return grads


def descend(loss: Number, weights: Sequence[Number], rate: float) -> None:
    """Take one step of gradient descent: move each weight against its gradient.

    >>> w = Number(1.0)
    >>> descend((w - 3) * (w - 3), [w], 0.25)
    >>> w.value
    2.0
    """
    for weight in weights:
        weight.grad = 0.0
    loss.backward()
    for weight in weights:
        weight.value -= rate * weight.grad
