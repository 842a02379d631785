# Stage 01, Function: the exercise for minigrad/examples/functions.py.
# Made by `minigrad dev build`. The lesson is lessons/01_function.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 01
# docs/en/glossary.md explains the names used inside the package.

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
        # 01.1 Slopes computed from the result (about 10 lines)
        # Write `forward` and `backward` of `Exp` and `Sigmoid`. Both slopes can be written in
        # terms of the result, so save only the result.
        #   Exp: x = [0., 1.]         -> [1.0000, 2.7183]
        #   its gradient [1., 10.]    -> gradient of x [1.0000, 27.1828]
        #   Sigmoid: x = [0., 1.]     -> [0.5000, 0.7311]
        #   its gradient [1., 10.]    -> gradient of x [0.2500, 1.9661]
        # Mind:
        # - `ctx.saved_tensors` is always a tuple, even if you saved only one tensor.
        # Use: `x.exp()`. You can mix numbers and tensors, as in `1 / x`.
        raise NotImplementedError("01.1 Slopes computed from the result is yours to write")

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        # 01.1 Slopes computed from the result: see the task at `Exp.forward`.
        raise NotImplementedError("01.1 Slopes computed from the result is yours to write")


class Sigmoid(Function):
    """The logistic function `1 / (1 + e**-x)`, a number between 0 and 1."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # 01.1 Slopes computed from the result: see the task at `Exp.forward`.
        raise NotImplementedError("01.1 Slopes computed from the result is yours to write")

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        # 01.1 Slopes computed from the result: see the task at `Exp.forward`.
        raise NotImplementedError("01.1 Slopes computed from the result is yours to write")


class GradCoeff(Function):
    """Return `x` unchanged, and multiply its gradient by the number `coeff`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, coeff: float) -> Tensor:
        # 01.2 Gradients other than the slope (about 5 lines)
        # `GradCoeff` returns `x` unchanged, but multiplies its gradient by the number
        # `coeff`. `Round` rounds, and passes its gradient on unchanged.
        #   GradCoeff: x = [2., 3.], coeff -0.1    -> [2., 3.]
        #   its gradient [4., 5.]                  -> ([-0.4, -0.5], None)
        #   Round: x = [0.5, 1.6, -2.7]            -> [0., 2., -3.]
        #   its gradient [3., 5., 7.]              -> [3., 5., 7.]
        # Mind:
        # - `backward` returns one result for each argument of `forward`: a gradient for a
        #   tensor, and None for a number.
        # - Two calls may use different coefficients.
        # Use: `x.round()`.
        raise NotImplementedError("01.2 Gradients other than the slope is yours to write")

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None]:
        # 01.2 Gradients other than the slope: see the task at `GradCoeff.forward`.
        raise NotImplementedError("01.2 Gradients other than the slope is yours to write")


class Round(Function):
    """Round to the nearest integer; the gradient passes through unchanged."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # 01.2 Gradients other than the slope: see the task at `GradCoeff.forward`.
        raise NotImplementedError("01.2 Gradients other than the slope is yours to write")

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        # 01.2 Gradients other than the slope: see the task at `GradCoeff.forward`.
        raise NotImplementedError("01.2 Gradients other than the slope is yours to write")


class Silu(Function):
    """`x * s` with `s = 1 / (1 + e**-x)`; saves one tensor instead of three."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        # 01.3 Save less (about 5 lines)
        # `Silu` is x times sigmoid(x). Written as two operations, it saves three tensors.
        # Yours saves only one, as large as `x`, and computes the rest again in `backward`.
        # Work out the slope on paper first.
        #   x = [1., -2.]             -> [0.7311, -0.2384]
        #   its gradient [1., 10.]    -> gradient of x [0.9277, -0.9078]
        #   slope at 0.               -> 0.5
        #   slopes at 1. and -1.      -> 0.9277 and 0.0723; at x and -x, they add up to 1
        # Use: `x.sigmoid()`.
        raise NotImplementedError("01.3 Save less is yours to write")

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        # 01.3 Save less: see the task at `Silu.forward`.
        raise NotImplementedError("01.3 Save less is yours to write")


class Polar(Function):
    """Distance and direction of the point `(x, y)`, seen from the origin."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        # 01.4 Two outputs (about 6 lines)
        # `Polar` takes a point to its distance `d` from the origin and its angle in radians.
        # `backward` receives two gradients and returns two. Work out the four slopes on paper
        # first.
        #   x = 3., y = 4.              -> (5.0, 0.9273)
        #   its gradients 1., 0.        -> (0.6, 0.8)
        #   its gradients 0., 1.        -> (-0.16, 0.12)
        #   its gradients 10., 100.     -> (-10.0, 20.0)
        # Mind:
        # - Each input reaches both outputs, so its gradient is a sum.
        # Use: `y.atan2(x)`.
        raise NotImplementedError("01.4 Two outputs is yours to write")

    @staticmethod
    def backward(ctx: Any, grad_distance: Tensor, grad_angle: Tensor) -> tuple[Tensor, Tensor]:
        # 01.4 Two outputs: see the task at `Polar.forward`.
        raise NotImplementedError("01.4 Two outputs is yours to write")
