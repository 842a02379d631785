# Stage 01, Function: the solution for minigrad/examples/functions.py.
# Made by `minigrad dev build`. The lesson is lessons/01_function.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Custom Functions, each with a forward, and a backward that returns gradients.

`forward` gets numbers and tensors and computes the outputs. `backward` gets the gradient with
respect to each output and returns one gradient for each argument of `forward`, or `None` for
arguments that are not tensors. Both use tensor operations, so that the gradient can be
differentiated again. The context passes values to `backward`: tensors through
`ctx.save_for_backward(...)` and `ctx.saved_tensors`, a tuple, and other values as attributes,
`ctx.name = value`. Save only inputs and outputs, because a tensor from inside `forward` has no
history, which would spoil second derivatives.

>>> from minigrad import tensor
>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> Exp.apply(x).sum().backward()
>>> x.grad
tensor([2.7183, 7.3891])
"""

from __future__ import annotations

from typing import Any

from ..autograd.function import Function
from ..tensor.tensor import Tensor

__all__ = ["Exp", "GradCoeff", "Polar", "Round", "Sigmoid", "Silu"]


class Exp(Function):
    """`e**x` for each element."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (result,) = ctx.saved_tensors
        return grad_output * result


class Sigmoid(Function):
    """The logistic function `1 / (1 + e**-x)`, a number between 0 and 1."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        s = 1 / (1 + (-x).exp())
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (s,) = ctx.saved_tensors
        return grad_output * s * (1 - s)


class GradCoeff(Function):
    """Return `x` unchanged, and multiply its gradient by the number `coeff`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, coeff: float) -> Tensor:
        ctx.coeff = coeff
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        return grad_output * ctx.coeff, None


class Round(Function):
    """Round to the nearest integer; the gradient passes through unchanged."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.round()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        return grad_output


class Silu(Function):
    """`x * s` with `s = 1 / (1 + e**-x)`; saves one tensor instead of three."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        s = x.sigmoid()
        return grad_output * (s + x * s * (1 - s))


class Polar(Function):
    """Distance and direction of the point `(x, y)`, seen from the origin."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        distance = (x * x + y * y).sqrt()
        ctx.save_for_backward(x, y, distance)
        return distance, y.atan2(x)

    @staticmethod
    def backward(ctx: Any, grad_distance: Tensor, grad_angle: Tensor) -> tuple[Tensor, Tensor]:
        x, y, distance = ctx.saved_tensors
        outward, around = grad_distance / distance, grad_angle / distance**2
        return outward * x - around * y, outward * y + around * x
