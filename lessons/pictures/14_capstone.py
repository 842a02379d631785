"""Pictures of lesson 14."""

from __future__ import annotations

import sys
from itertools import pairwise

import minigrad as torch
from minigrad_course.content.stages import checkout
from minigrad_course.pictures import Arrow, Box, Curve, Picture, graph, plot


def a_training_step() -> Picture:
    """The four lines of a training step and the stages behind them."""
    boxes = {
        "net": Box("scores = net(images)", kind="on-forward",
                   notes=("04 operators, 13a modules", "07 is recording on?")),
        "loss": Box("loss = cross_entropy(...)", kind="on-forward",
                    notes=("02 a node for each operation", "06 what it saves")),
        "backward": Box("loss.backward()", kind="on-gradient",
                        notes=("03 the engine, 04 formulas", "05 hooks, 02 .grad is filled")),
        "step": Box("optimizer.step()", notes=("13b the rule, 07 under no_grad",
                                               "06 writes in place"))}
    names = list(boxes)
    arrows = [Arrow(start, end) for start, end in pairwise(names)]
    return Picture(
        graph(boxes, arrows, down=True), "Who does what in a training step",
        "scores = net(images) uses operators from 04 and modules from 13a, and 07 checks whether "
        "recording is on. loss = cross_entropy(...) creates a node for each operation, as in 02, "
        "and 06 keeps what the nodes save. loss.backward() runs the engine from 03 with the "
        "formulas from 04 and the hooks from 05, and fills .grad as in 02. optimizer.step() "
        "applies the rules from 13b under the no_grad mode from 07, and 06 counts its writes.",
        "Each of these four lines runs on code from several stages.")


def one_forgotten_line() -> Picture:
    """A weight on its way to the minimum, with and without zero_grad."""
    curves = []
    for clear, name, kind, at, shift in (
            (False, "without zero_grad", "wrong-line", 4, (64, -10)),
            (True, "with zero_grad", "right-line", 20, (0, -12))):
        w = torch.tensor([0.0], requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.2)
        points = [(0.0, 0.0)]
        for step in range(1, 21):
            if clear:
                optimizer.zero_grad()
            ((w - 3.0) ** 2).sum().backward()
            optimizer.step()
            points.append((float(step), w.item()))
        curves.append(Curve(points, name, kind, at=at, dots=True, shift=shift))
    worst = max(value for _, value in curves[0].points)
    return Picture(
        plot(curves, "step", "w", x_ticks=[0, 5, 10, 15, 20], y_ticks=[0, 3, 6]),
        "One forgotten line",
        "Two curves of a weight whose minimum is at 3. With zero_grad, it gets closer in every "
        f"step. Without zero_grad, it swings between {min(v for _, v in curves[0].points):.1f} and "
        f"{worst:.1f} and never settles.",
        "Gradients that are never cleared act like a momentum without any friction.")


def losses() -> Picture:
    """The loss of the digits network in its first epoch."""
    sys.path.insert(0, str(checkout() / "lessons" / "programs"))
    import digits

    images, numbers, _, _ = digits.images_and_digits()
    net = digits.network(torch).double()  # in float32 the last digits differ between machines
    found = [*digits.train(torch, net, images.astype("float64"), numbers, epochs=1)]
    found = found[: len(numbers) // digits.BATCH]  # the last batch is a small one
    return Picture(
        plot([Curve([(float(step), loss) for step, loss in enumerate(found, 1)])], "step",
             "loss of a batch of 32 digits", x_ticks=[1, 10, 20, 30, 40],
             y_ticks=[0, 1, 2, 3]),
        "The loss in the first epoch",
        f"A curve that begins at {found[0]:.2f}, falls quickly in the first ten steps and ends "
        f"near {found[-1]:.2f} after {len(found)} steps, going up and down a little from batch "
        "to batch.",
        f"{len(found)} batches of 32 digits: one epoch on your engine.")
