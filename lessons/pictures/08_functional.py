"""Pictures of lesson 08."""

from __future__ import annotations

import minigrad as torch
from minigrad.autograd import functional
from minigrad_course.pictures import (
    Picture,
    backward_graph,
    beside,
    grid,
    row_times_matrix,
    stacked,
)

V = [1.0, 10.0]


def _func(x: torch.Tensor) -> torch.Tensor:
    return x * x.sum()


def _whole(numbers: list[float]) -> list[int]:
    return [int(each) for each in numbers]


def rows_of_the_table() -> Picture:
    """Three vectors and the products that a backward pass gives."""
    x = torch.tensor([1.0, 2.0])
    table = functional.jacobian(_func, x).tolist()
    drawn, told = [], []
    for v in ([1.0, 0.0], [0.0, 1.0], V):
        row = functional.vjp(_func, x, torch.tensor(v))[1].tolist()
        drawn.append(row_times_matrix(v, table, row, ("v", "J", "vᵀJ")))
        told.append(f"{_whole(v)} gives {_whole(row)}")
    return Picture(
        beside(drawn, 22), "A backward pass weighs the rows of the Jacobian",
        f"The Jacobian has the rows {_whole(table[0])} and {_whole(table[1])}. As v, "
        f"{', '.join(told)}: the sum of the rows, each multiplied by its entry of v.",
        "A pass returns one row: a weighted sum of the rows of `J`.")


def rows_or_columns() -> Picture:
    """One number from many, and many from one."""
    wide = functional.jacobian(lambda x: (x * x).sum(), torch.arange(1.0, 7.0)).reshape(1, 6)
    tall = functional.jacobian(lambda x: x * torch.arange(1.0, 7.0), torch.tensor(2.0))
    tall = tall.reshape(6, 1)
    row = {(0, j): "on-gradient" for j in range(6)}
    column = {(i, 0): "on-forward" for i in range(6)}
    return Picture(
        beside([grid(wide.tolist(), row), grid(tall.tolist(), column)], 40,
               titles=["6 inputs, 1 output", "1 input, 6 outputs"]),
        "Forward against reverse mode: which side is short",
        "Two Jacobians. A function with 6 inputs and 1 output has 6 columns and a single row, "
        "which one backward pass computes. A function with 1 input and 6 outputs has 6 rows and a "
        "single column, which one forward run computes.",
        "Reverse mode (orange) computes a row in one pass, and forward mode (blue) computes a "
        "column. A loss has one row.")


def four_pictures() -> Picture:
    """The Jacobian of four averages, as four pictures."""
    picture = torch.arange(16.0).reshape(4, 4)

    def squared_pool(picture: torch.Tensor) -> torch.Tensor:
        pooled = torch.nn.functional.avg_pool2d(picture.reshape(1, 1, 4, 4), 2)
        return pooled.reshape(2, 2) ** 2

    found = functional.jacobian(squared_pool, picture)
    drawn = []
    for i in range(2):
        for j in range(2):
            rows = found[i, j].tolist()
            used = {(a, b): "on-gradient" for a in range(4) for b in range(4) if rows[a][b]}
            texts = [[f"{value:.2f}" if value else "" for value in row] for row in rows]
            drawn.append(grid(texts, used, cell=40, label=f"result [{i}, {j}]"))
    return Picture(
        stacked([beside(drawn[:2], 20), beside(drawn[2:], 20)]),
        "The Jacobian of four averages of a picture",
        "Four 4 by 4 tables, one for each result. Each is zero except in the 2 by 2 window that "
        f"the result averages: {found[0, 0, 0, 0].item():.2f} in the first, "
        f"{found[1, 1, 3, 3].item():.2f} in the last.",
        "The shape `(2, 2, 4, 4)` means four pictures, one for each result.")


def a_recorded_slope() -> Picture:
    """The graph of a gradient."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return Picture(
        backward_graph(slope, {"x": x}), "The graph that a recorded pass leaves",
        "The gradient of x**3 is g * (3 * x**2). Its graph leads from the multiplication by g "
        "through the multiplication by 3 and the square to the leaf x.",
        "Three operations computed the gradient of `x**3`, and each of them left a node.")
