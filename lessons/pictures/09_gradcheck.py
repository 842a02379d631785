"""Pictures of lesson 09."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as torch
from minigrad.autograd.gradcheck.numerical import (
    assembled,
    jacobian_columns,
    numerical_jacobians,
)
from minigrad_course.pictures import Arrow, Box, Curve, Picture, chained, graph, grid, plot


def two_ways() -> Picture:
    """The plan of gradcheck."""
    boxes = {
        "start": Box("func, inputs"),
        "move": Box("move each input", notes=("a little, look at results",), code=False,
                    kind="on-forward"),
        "pass": Box("a backward pass", notes=("for each output",), code=False,
                    kind="on-gradient"),
        "numerical": Box("numerical jacobian", code=False),
        "analytical": Box("analytical jacobian", code=False),
        "equal": Box("equal, nearly?", notes=("and a few more questions",), code=False)}
    arrows = [Arrow("start", "move", kind="forward-line"),
              Arrow("start", "pass", kind="gradient-line"),
              Arrow("move", "numerical", kind="forward-line"),
              Arrow("pass", "analytical", kind="gradient-line"),
              Arrow("numerical", "equal"), Arrow("analytical", "equal")]
    return Picture(
        graph(boxes, arrows, down=True), "gradcheck computes a Jacobian in two ways",
        "From func and its inputs, two ways lead to a Jacobian. Moving each input element a little "
        "gives the numerical one, and a backward pass for each output element gives the "
        "analytical one. Then gradcheck asks whether they are nearly equal, and a few more "
        "questions.",
        "On the left, `gradcheck` only evaluates the function. On the right, it relies on "
        "`backward`.")


def two_errors() -> Picture:
    """The error of a central difference in two precisions."""
    def error(kind: Any, eps: float) -> float:
        def cube(x: Any) -> Any:
            return x * x * x

        x, step = kind(1.5), kind(eps)
        return abs(float((cube(x + step) - cube(x - step)) / (2 * step)) - 6.75)

    steps = [10.0 ** (-k / 2) for k in range(2, 21)]
    single = [(eps, error(np.float32, eps)) for eps in steps if eps > 2e-7]
    double = [(eps, error(np.float64, eps)) for eps in steps]
    best = {name: min(points, key=lambda point: point[1])[0]
            for name, points in (("float32", single), ("float64", double))}
    return Picture(
        plot([Curve(single, "float32", "wrong-line", at=0, dots=True, shift=(-60, 4)),
              Curve(double, "float64", "forward-line", at=13, dots=True, shift=(-10, 12))],
             "eps", "error of the slope of x³ at 1.5", log_x=True, log_y=True,
             x_ticks=[1e-10, 1e-8, 1e-6, 1e-4, 1e-2], y_ticks=[1e-10, 1e-7, 1e-4, 1e-1]),
        "The error of a central difference in float32 and in float64",
        "Two curves with logarithmic axes. As eps shrinks, both fall along the same line and then "
        f"rise again. float32 turns near eps = {best['float32']:.0e}, float64 near "
        f"{best['float64']:.0e}, at a far smaller error.",
        "On the right, the step is too coarse, and on the left, the digits run out. In float32, "
        "they run out early.")


class _Nearly(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (result,) = ctx.saved_tensors
        return result * (1 - result)


def two_jacobians() -> Picture:
    """The two Jacobians of a wrong backward."""
    point = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    output = _Nearly.apply(point)
    ((numerical,),) = numerical_jacobians(_Nearly.apply, (point,), (output,), 1e-6)
    (analytical,) = assembled((point,), jacobian_columns((point,), output))
    texts = [[[f"{value:.3f}" if value else "0" for value in row] for row in table.round(6)]
             for table in (numerical, analytical)]
    apart = {(i, j): "on-wrong" for i in range(2) for j in range(2)
             if texts[0][i][j] != texts[1][i][j]}
    return Picture(
        chained([grid(texts[0], cell=56, label="numerical"),
                 grid(texts[1], apart, cell=56, label="analytical")], labels=["≠"], room=50),
        "The Jacobians of a backward that forgot its gradient",
        f"The numerical Jacobian has the rows {texts[0][0]} and {texts[0][1]}, and the "
        f"analytical one has {texts[1][0]} and {texts[1][1]}. They differ off the "
        "diagonal.".replace("'", ""),
        "`Nearly` returns the same gradient for every `g`, so it fills positions that should be "
        "zero.")
