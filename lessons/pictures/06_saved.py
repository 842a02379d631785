"""Pictures of lesson 06."""

from __future__ import annotations

import minigrad as torch
from minigrad_course.demos.softmax_training import SOFTMAX, four_clouds, train
from minigrad_course.pictures import Curve, Picture, View, backward_graph, beside, plot, storage


def views_of_one_memory() -> Picture:
    """A base, a row of it and a part of the row, after a write."""
    x = torch.zeros(2, 3)
    row = x[0]
    part = row[1:]
    part.add_(7)
    def window(name: str, tensor: torch.Tensor) -> View:
        marks = tuple(str(int(value)) for value in tensor.flatten().tolist())
        return View(name, tensor, marks=marks)

    return Picture(
        storage(x.flatten().tolist(), [window("x", x), window("row = x[0]", row),
                                       window("part = row[1:]", part)],
                badge=f"the memory, version {x._version}"),
        "A base and two views on one memory",
        "The memory is at version 1. Its six cells hold 0, 7, 7, 0, 0, 0. x sees all of them, row "
        "the first three, part the second and the third.",
        "The three tensors share one piece of memory and one version counter, so all of them are "
        "at version 1.")


def copy_slices() -> Picture:
    """The history of a base before and after a write through a view."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    before = x * 2
    after = x * 2
    after[1:].mul_(10)
    return Picture(
        beside([backward_graph(before, {"x": x}),
                backward_graph(after, {"x": x}, notes={after.grad_fn: ("times 10, for y[1:]",)})],
               titles=["y = x * 2", "y[1:].mul_(10)"]),
        "The history of y before and after a write through a view of it",
        "Before: MulBackward0 leads to AccumulateGrad of x. After: CopySlices, which holds the "
        "node of the write, leads to the same MulBackward0 and on to x.",
        "The write becomes a new node in the history of `y`, although the operation never "
        "mentioned `y`.")


def three_softmaxes() -> Picture:
    """The losses of the same network with a silent bug, and without it."""
    points, labels = four_clouds(200)
    curves = []
    for name, kind, word in (("in place, .data", "gradient-line", "in place, through .data"),
                             ("a new tensor", "forward-line", "a new tensor")):
        losses, _, _ = train(SOFTMAX[name], points, labels, steps=60)
        curves.append(Curve([*enumerate(losses)], word, kind, at=24, anchor="start"))
    return Picture(
        plot(curves, "step", "loss", x_ticks=[0, 20, 40, 60], y_ticks=[0, 0.5, 1, 1.5]),
        "The loss of a network with a wrong gradient, and with the right one",
        f"Two curves begin at {curves[0].points[0][1]:.2f}. The curve for the division in place "
        f"falls, rises a little, and falls to {curves[0].points[-1][1]:.2f}. The curve for the new "
        f"tensor falls to {curves[1].points[-1][1]:.2f}.",
        "Both losses fall, one of them with a bump. Without the curve for the new tensor, you "
        "wouldn't notice that the other one is wrong.")
