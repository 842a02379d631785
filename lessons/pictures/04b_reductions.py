"""Pictures of lesson 04b."""

from __future__ import annotations

import numpy as np

import minigrad as torch
from minigrad_course.pictures import (
    Arrow,
    Box,
    Drawing,
    Picture,
    chained,
    graph,
    grid,
    stacked,
)


def sum_and_copy() -> Picture:
    """A sum forward, copies backward."""
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    s = x.sum(1)
    g = torch.tensor([10.0, 20.0])
    s.backward(g)
    column = [[value] for value in s.tolist()]
    forward = chained([grid(x.tolist(), label="x", tone="code forward"),
                       grid(column, label="x.sum(1)", tone="code forward", cell=30)],
                      "forward-line", 60)
    backward = chained([grid(x.grad.tolist(), label="x.grad", tone="code gradient"),
                        grid([[value] for value in g.tolist()], label="g", tone="code gradient")],
                       "gradient-line", 60, backward=True)
    return Picture(
        stacked([forward, backward], titles=["Forward: rows are summed",
                                             "Backward: gradients are copied"]),
        "A sum and its adjoint",
        f"Forward, the rows of a 2 by 3 matrix are summed to {s.tolist()}. Backward, the gradient "
        f"{g.tolist()} is copied along each row: {x.grad.tolist()}.",
        "Three numbers became one, so one gradient becomes three copies.")


def picked_twice() -> Picture:
    """Rows that are picked, and where their gradients go."""
    words = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    index = [2, 0, 2]
    words[torch.tensor(index)].sum().backward()
    boxes = {f"row{row}": Box(f"words[{row}]", grad=f"∂ {[int(each) for each in grad]}")
             for row, grad in enumerate(words.grad.tolist())}
    boxes |= {f"word{place}": Box(f"word {place}", grad="∂ [1, 1]", code=False)
              for place in range(len(index))}
    arrows = [Arrow(f"row{row}", f"word{place}", kind="gradient-line", backward=True)
              for place, row in enumerate(index)]
    return Picture(
        graph(boxes, arrows, room=60), "A row that is picked twice",
        "The words 0, 1 and 2 of a sentence are rows 2, 0 and 2 of a table. Backward, dashed "
        "arrows lead from each word to its row: row 2 gets two of them, row 0 one, row 1 none.",
        "Row 2 was picked twice, so two gradients are added there. Row 1 doesn't get any.")


def two_products() -> Picture:
    """The shapes of a product and of its two gradients."""
    A, B = np.ones((2, 3)), np.ones((3, 4))
    g = np.ones((A @ B).shape)

    def block(array: np.ndarray, label: str, kind: str) -> Drawing:
        rows, columns = array.shape
        return grid([[""] * columns] * rows, kind=kind, cell=18, label=label)

    def product(left: Drawing, right: Drawing, result: Drawing) -> Drawing:
        return chained([left, right, result], labels=["@", "="], room=40)

    rows = [
        product(block(A, "A", "on-forward"), block(B, "B", "on-forward"),
                block(A @ B, "C", "on-forward")),
        product(block(g, "g", "on-gradient"), block(B.T, "Bᵀ", "on-forward"),
                block(g @ B.T, "like A", "on-gradient")),
        product(block(A.T, "Aᵀ", "on-forward"), block(g, "g", "on-gradient"),
                block(A.T @ g, "like B", "on-gradient"))]
    return Picture(
        stacked(rows, titles=["Forward", "Gradient of A", "Gradient of B"]),
        "One product forward, two backward",
        f"Forward, A of shape {A.shape} times B of shape {B.shape} gives C of shape {g.shape}. "
        f"Backward, g times B transposed gives {(g @ B.T).shape}, the shape of A, and A transposed "
        f"times g gives {(A.T @ g).shape}, the shape of B.",
        "Only one order of the factors gives the shape that each gradient needs.")
