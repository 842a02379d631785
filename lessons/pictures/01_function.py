"""Pictures of lesson 01."""

from __future__ import annotations

import minigrad as torch
from minigrad.examples.functions import Polar, Round
from minigrad_course.pictures import Arrow, Box, Curve, Picture, beside, graph, plot
from minigrad_course.pictures.graphs import short


def straight_through() -> Picture:
    """The loss of section 2, and the steps down its stairs."""
    def loss_at(w: torch.Tensor) -> torch.Tensor:
        return (Round.apply(3 * w) - 5).square()

    stairs = [(w / 600, loss_at(torch.tensor(w / 600)).item()) for w in range(100, 1100)]
    w, steps = torch.tensor(0.4, requires_grad=True), []
    for _ in range(6):
        loss = loss_at(w)
        steps.append((w.item(), loss.item()))
        (slope,) = torch.autograd.grad(loss, w)
        with torch.no_grad():
            w -= 0.02 * slope
    told = ", ".join(f"w = {at:.2f} with loss {loss:.0f}" for at, loss in steps)
    return Picture(
        plot([Curve(stairs), Curve(steps, kind="gradient-line", dots=True)],
             "w", "(round(3w) - 5)²", x_ticks=[0.4, 1.0, 1.6], y_ticks=[0, 4, 9, 16]),
        "A loss that is a staircase, and the steps down",
        "The loss is level between jumps, so its slope is zero. Dots joined by a line walk down "
        f"the stairs: {told}.",
        "The loss is a staircase, level almost everywhere, so its true slope is 0. Thanks to the "
        "lie, `w` walks down anyway, and stops when the loss is 0.")


def two_outputs() -> Picture:
    """The point (3, 4): four slopes, and two gradients that come back."""
    x, y = (torch.tensor(each, requires_grad=True) for each in (3.0, 4.0))
    outputs = Polar.apply(x, y)
    came = (10.0, 100.0)
    slopes = [[each.item() for each in torch.autograd.grad(output, (x, y), retain_graph=True)]
              for output in outputs]
    torch.autograd.backward(outputs, [torch.tensor(each) for each in came])
    halves = []
    for j, (name, each) in enumerate((("x", x), ("y", y))):
        boxes = {name: Box(name, short(each.item()), f"∂ {short(each.grad.item())}", leaf=True)}
        boxes |= {end: Box(end, grad=f"∂ {short(grad)}")
                  for end, grad in zip(("distance", "angle"), came, strict=True)}
        halves.append(graph(boxes, [
            Arrow(name, end, f"×{short(slopes[i][j])}", "gradient-line", True)
            for i, end in enumerate(("distance", "angle"))], down=True))
    return Picture(
        beside(halves), "The way back through Polar at the point (3, 4)",
        "Two graphs, one for x and one for y. In each, dashed arrows lead from distance and angle "
        f"back to the input. The slopes of the distance are {short(slopes[0][0])} and "
        f"{short(slopes[0][1])}, and the slopes of the angle are {short(slopes[1][0])} and "
        f"{short(slopes[1][1])}. The gradients 10 and 100 turn into {short(x.grad.item())} for x "
        f"and {short(y.grad.item())} for y.",
        "The point (3, 4), for `x` on the left and for `y` on the right. The gradients 10 and 100 "
        "arrive at the outputs. Two arrows meet at each input, so their shares are added there.")
