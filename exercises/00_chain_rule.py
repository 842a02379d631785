# Stage 00, An engine on numbers: the exercise for minigrad/tiny.py.
# Made by `minigrad dev build`. The lesson is lessons/00_chain_rule.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 00
# docs/en/glossary.md explains the names used inside the package.

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
    # 00.1 Measure a slope (one line)
    # Return the slope of `f` at `x`, measured by a central difference: look at `f` on
    # both sides of `x`, each time at the distance `eps`.
    #   slope(lambda x: x * x, 3.0, 0.5)       -> 6.0, exactly
    #   slope(lambda x: x * x * x, 1.0, 0.5)   -> 3.25: a large eps is off where the curve bends
    # Mind:
    # - Call `f` only twice, once on each side.
    raise NotImplementedError("00.1 Measure a slope is yours to write")


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
        # 00.6 A step of training (about 8 lines)
        # `backward` adds to the `grad` of each leaf the slope of this number with respect to
        # that leaf. All other numbers keep None. `descend` takes one step: it sets the `grad`
        # of each weight to the gradient of `loss` alone, and then moves each weight by `rate`
        # times its `grad`, so that the loss gets smaller.
        #   x = Number(3.0); y = x * x; y.backward()           -> x.grad 6.0, y.grad None
        #   y.backward() again                                 -> x.grad 12.0
        #   w = 1.0, loss = (w - 3)**2, descend(loss, [w], 0.25) -> w.value 2.0
        # Use: `gradients`.
        raise NotImplementedError("00.6 A step of training is yours to write")


def _number(value: Number | float) -> Number:
    return value if isinstance(value, Number) else Number(value)


def add(a: Number, b: Number) -> Number:
    """Return `a + b`."""
    # 00.2 Steps that remember (about 2 lines)
    # Return a new Number with the value of `a + b` or `a * b`. It remembers its two
    # inputs, in order, and its slope with respect to each of them.
    #   c = mul(Number(2.0), Number(5.0))   -> c.value 10.0, c.slopes (5.0, 2.0)
    #   d = add(a, a)                       -> d.inputs (a, a), d.slopes (1.0, 1.0)
    # Use: `Number(value, inputs, slopes)`.
    raise NotImplementedError("00.2 Steps that remember is yours to write")


def mul(a: Number, b: Number) -> Number:
    """Return `a * b`."""
    # 00.2 Steps that remember: see the task at `add`.
    raise NotImplementedError("00.2 Steps that remember is yours to write")


def exp(a: Number) -> Number:
    """Return `e**a`."""
    # 00.3 Three more steps (about 6 lines)
    # Return a new Number with the value of e**a, tanh(a) or 1/a. It remembers its input
    # and its slope.
    #   exp(Number(2.0))          -> value 7.389, slopes (7.389,)
    #   tanh(Number(2.0))         -> value 0.9640, slopes (0.07065,)
    #   reciprocal(Number(4.0))   -> value 0.25, slopes (-0.0625,)
    # Use: `math.exp`, `math.tanh`.
    raise NotImplementedError("00.3 Three more steps is yours to write")


def tanh(a: Number) -> Number:
    """Return the hyperbolic tangent of `a`."""
    # 00.3 Three more steps: see the task at `exp`.
    raise NotImplementedError("00.3 Three more steps is yours to write")


def reciprocal(a: Number) -> Number:
    """Return `1 / a`."""
    # 00.3 Three more steps: see the task at `exp`.
    raise NotImplementedError("00.3 Three more steps is yours to write")


def backward_order(result: Number) -> list[Number]:
    """Return `result` and the numbers that it depends on, each after all its users.

    >>> a = Number(2.0)
    >>> b = a * a
    >>> backward_order(b + a)[1:] == [b, a]
    True
    """
    # 00.4 The order of the backward pass (about 7 lines)
    # Return a list of all the numbers that `result` depends on, including `result`
    # itself: each once, and each after every number that used it.
    #   b = a * a; f = b + a      -> [f, b, a]
    #   f = a * a                 -> [f, a]
    #   a leaf alone              -> [a]
    # Mind:
    # - Leave out numbers that `result` doesn't depend on.
    # - A chain may be thousands of steps long, so a function that calls itself for each
    #   step raises a RecursionError.
    raise NotImplementedError("00.4 The order of the backward pass is yours to write")


def gradients(result: Number) -> dict[Number, float]:
    """Return the derivative of `result` with respect to each number that it depends on.

    >>> a, b = Number(3.0), Number(2.0)
    >>> d = b * b
    >>> f = d + a * a * d
    >>> gradients(f)[d], gradients(f)[b]
    (10.0, 40.0)
    """
    # 00.5 The engine (about 7 lines)
    # Return a dictionary with the slope of `result` with respect to each number that
    # `result` depends on. Multiply along each edge, and add where edges meet.
    #   b = a * 3; c = a + b; f = b * c, at a = 2   -> f: 1.0, b: 14.0, c: 6.0, a: 48.0
    # Mind:
    # - One step may use a number twice, as in `a * a`.
    # - Leave the numbers of the graph unchanged, including their `grad`.
    # - A graph may have millions of paths, and a chain may be thousands of steps long.
    # Use: `backward_order(result)`. `number.inputs` and `number.slopes` belong together
    # in pairs.
    raise NotImplementedError("00.5 The engine is yours to write")


def descend(loss: Number, weights: Sequence[Number], rate: float) -> None:
    """Take one step of gradient descent: move each weight against its gradient.

    >>> w = Number(1.0)
    >>> descend((w - 3) * (w - 3), [w], 0.25)
    >>> w.value
    2.0
    """
    # 00.6 A step of training: see the task at `Number.backward`.
    raise NotImplementedError("00.6 A step of training is yours to write")
