"""Pictures of lesson 04a."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import minigrad as torch
from minigrad_course.pictures import (
    Curve,
    Drawing,
    Picture,
    beside,
    chained,
    grid,
    plot,
    stacked,
)
from minigrad_course.pictures.graphs import short


def stretched() -> Picture:
    """A column and a row, stretched forward and summed backward."""
    column = torch.tensor([[10.0], [20.0], [30.0]], requires_grad=True)
    row = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    result = column + row
    result.backward(torch.ones(3, 4))
    first = {(i, 0): "on-forward" for i in range(3)}
    top = {(0, j): "on-forward" for j in range(4)}
    forward = chained([
        grid(column.expand(3, 4).tolist(), first, label="column, 3 by 1"),
        grid(row.expand(3, 4).tolist(), top, label="row, 4")], labels=["+"], room=34)
    sums = beside([
        grid(column.grad.tolist(), tone="code gradient", label="column.grad"),
        grid([row.grad.tolist()], tone="code gradient", label="row.grad")], 50)
    return Picture(
        stacked([forward, sums], titles=["Forward: copied along what is missing",
                                         "Backward of ones: summed over the copies"]),
        "Broadcasting copies, its backward sums",
        "A column of 3 numbers is copied to 4 columns and a row of 4 numbers to 3 rows; their sum "
        "is 3 by 4. For a gradient of ones the column gets "
        f"{[int(each) for (each,) in column.grad.tolist()]} and the row "
        f"{[int(each) for each in row.grad.tolist()]}.",
        "Only the blue cells are in memory. Each gets the sum of the gradients of its copies.")


def copied() -> Picture:
    """A number copied three times, as a matrix, and the transpose."""
    ones = np.ones((3, 1))
    gradients = [["g0"], ["g1"], ["g2"]]
    forward = chained([grid(ones.tolist()), grid([["a"]], tone="code forward"),
                       grid([["a"]] * len(ones), tone="code forward")], labels=["·", "="])
    backward = chained([grid(ones.T.tolist()), grid(gradients, tone="code gradient"),
                        Drawing().text(0, 10, "g0 + g1 + g2", "code gradient", "start")],
                       labels=["·", "="])
    return Picture(
        stacked([forward, backward], titles=["Forward: a column of ones copies",
                                             "Backward: its transpose adds"]),
        "Copying and adding are transposes of each other",
        "A column of three ones times the number a is a column of three a. The transpose, a row of "
        "three ones, times the column of the gradients g0, g1 and g2 is their sum.",
        "The same three ones, as a column and as a row.")


def _with_slope(name: str, function: Callable[..., torch.Tensor], ticks: list[float]) -> Drawing:
    xs = np.linspace(-3, 3, 61)
    x = torch.tensor(xs, requires_grad=True)
    y = function(x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    pairs = [[*zip(xs.tolist(), each.tolist(), strict=True)] for each in (y, slope)]
    return plot([Curve(pairs[0]), Curve(pairs[1], kind="gradient-line")], "x", name,
                width=205, height=175, x_ticks=[-3, 0, 3], y_ticks=ticks)


def slopes() -> Picture:
    """Four functions of one number and their slopes."""
    drawn = [_with_slope("sigmoid", torch.sigmoid, [0, 0.5, 1]),
             _with_slope("tanh", torch.tanh, [-1, 0, 1]),
             _with_slope("relu", torch.relu, [0, 1, 2, 3]),
             _with_slope("exp", torch.exp, [0, 10, 20])]
    highest = torch.sigmoid(torch.tensor(0.0)).item() ** 2
    return Picture(
        stacked([beside(drawn[:2], 6), beside(drawn[2:], 6)], 8),
        "Four functions and their slopes",
        "Four plots, each with a function as a solid blue line and its slope as a dashed orange "
        f"line. The slope of the sigmoid is at most {short(highest)}, that of tanh at most 1, that "
        "of relu jumps from 0 to 1, and that of exp is exp itself.",
        "The solid line is the function, and the dashed line is its slope. For `exp`, the two are "
        "the same line.")
