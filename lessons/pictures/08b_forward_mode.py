"""Pictures of lesson 08b."""

from __future__ import annotations

from minigrad import tensor
from minigrad.examples.dual_numbers import Dual
from minigrad.func import jacfwd, jacrev
from minigrad_course.pictures import Arrow, Box, Picture, beside, graph, grid
from minigrad_course.pictures.graphs import short


def dual_parabola() -> Picture:
    """Values and tangents of x² + 2x, from left to right."""
    x = Dual(3.0, 1.0)
    square, double = x * x, 2.0 * x
    steps = {"x": x, "x × x": square, "2 × x": double, "f": square + double}
    boxes = {name: Box(name, f"{short(each.value)}, rate {short(each.tangent)}", leaf=name == "x")
             for name, each in steps.items()}
    arrows = [Arrow("x", "x × x", kind="forward-line"), Arrow("x", "2 × x", kind="forward-line"),
              Arrow("x × x", "f", kind="forward-line"), Arrow("2 × x", "f", kind="forward-line")]
    told = ", ".join(f"{name} {short(each.value)} at the rate {short(each.tangent)}"
                     for name, each in steps.items())
    return Picture(
        graph(boxes, arrows), "Values and tangents of x × x + 2 × x",
        f"Arrows lead from x to x × x and to 2 × x, and from both to f. Each box has a value and a "
        f"rate: {told}.",
        "After a step has computed its value and its rate, we can forget its inputs. No arrow "
        "leads back.")


def rows_and_columns() -> Picture:
    """A jacobian, a column of it by forward mode, and a row by reverse mode."""
    matrix = tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    columns = jacfwd(lambda x: matrix @ x)(tensor([1.0, 1.0, 1.0])).tolist()
    rows = jacrev(lambda x: matrix @ x)(tensor([1.0, 1.0, 1.0])).tolist()
    return Picture(
        beside([grid(columns, {(i, 1): "on-forward" for i in range(2)}, label="one run: J v"),
                grid(rows, {(1, j): "on-gradient" for j in range(3)}, label="one pass: vᵀ J")],
               gap=60),
        "A column by forward mode, a row by reverse mode",
        "Two copies of a jacobian with 2 rows and 3 columns. In the first, a column is marked, and "
        "in the second, a row.",
        "With two outputs and three inputs, three runs compute all columns, or two passes compute "
        "all rows.")
