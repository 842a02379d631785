"""Pictures of lesson 13b."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import optim
from minigrad_course.pictures import Arrow, Box, Curve, Picture, graph, plot

START = np.array([10.0, 1.0])


def _height(w: Any) -> float:
    return float(0.5 * (w[0] ** 2 + 100 * w[1] ** 2))


def _path(make: Callable[[list[Any]], Any], steps: int) -> list[tuple[float, float]]:
    w = torch.tensor(START, requires_grad=True)
    optimizer, points = make([w]), [tuple(START.tolist())]
    for _ in range(steps):
        optimizer.zero_grad()
        (0.5 * (w[0] ** 2 + 100 * w[1] ** 2)).backward()
        optimizer.step()
        points.append(tuple(w.detach().numpy().tolist()))
    return points


def paths() -> Picture:
    """Three ways down one valley."""
    plain = _path(lambda p: optim.SGD(p, lr=0.018), 12)
    momentum = _path(lambda p: optim.SGD(p, lr=0.003, momentum=0.9), 35)
    adam = _path(lambda p: optim.Adam(p, lr=0.5), 30)
    rings = []
    for level in (5, 20, 50, 100):
        radius = math.sqrt(2 * level)
        rings.append(Curve([(radius * math.cos(angle), radius / 10 * math.sin(angle))
                            for angle in (2 * math.pi * k / 60 for k in range(61))]))
    return Picture(
        plot([Curve(plain, "plain", "line", dots=True),
              Curve(momentum, "momentum", "forward-line"), Curve(adam, "Adam", "right-line")],
             "w[0], the flat direction", "w[1], the steep direction", contours=rings,
             x_ticks=[-14, -7, 0, 7, 14], y_ticks=[-1.4, -0.7, 0, 0.7, 1.4], height=300,
             legend=(0.02, 0.06)),
        "Three optimizers in a steep valley",
        "Rings of equal height around the lowest point, and three paths from (10, 1). Plain "
        f"descent jumps across the valley and is at w[0] = {plain[-1][0]:.1f} after 12 steps; "
        f"momentum swings and is at {momentum[-1][0]:.1f} after 35, Adam swings in wide curves "
        f"and is at {adam[-1][0]:.1f} after 30.",
        "Plain descent jumps across the valley; momentum and Adam also move along it.")


def heights() -> Picture:
    """The height after each step."""
    curves = []
    for name, make, kind in (
            ("plain", lambda p: optim.SGD(p, lr=0.01), "line"),
            ("momentum", lambda p: optim.SGD(p, lr=0.01, momentum=0.9), "forward-line"),
            ("nesterov", lambda p: optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True),
             "right-line")):
        points = [(float(count), max(_height(w), 1e-7))
                  for count, w in enumerate(_path(make, 100))]
        curves.append(Curve(points, name, kind))
    told = ", ".join(f"{curve.name} {curve.points[-1][1]:.2g}" for curve in curves)
    return Picture(
        plot(curves, "step", "height", log_y=True, x_ticks=[0, 25, 50, 75, 100],
             y_ticks=[1e-6, 1e-4, 1e-2, 1, 100], height=260,
             legend=(0.04, 0.62)),
        "The height after each step",
        f"Curves of the height over 100 steps, on a logarithmic axis. At the end: {told}.",
        "On this axis, a straight line falls by the same factor in each step. Momentum falls more "
        "steeply, and it oscillates.")


def a_step() -> Picture:
    """What a step does, whatever the rule."""
    boxes = {
        "closure": Box("closure()", notes=("if there is one: recording on",)),
        "group": Box("for each group", notes=("its lr, its weight decay",), code=False),
        "parameter": Box("for each parameter", notes=("that has a gradient",), code=False),
        "count": Box("count the write", notes=("the version goes up",), code=False),
        "update": Box("update(group, array, grad, state)", kind="on-gradient",
                      notes=("the rule, written by a subclass",)),
        "give": Box("return the loss", code=False)}
    names = list(boxes)
    arrows = [Arrow(start, end) for start, end in pairwise(names)]
    return Picture(
        graph(boxes, arrows, down=True), "What step does, whatever the rule",
        "From top to bottom: call the closure, if there is one, with recording on; for each group "
        "with its lr and weight decay; for each parameter that has a gradient; count the write; "
        "call update, the rule that a subclass writes; return the loss.",
        "Only the orange box differs from one optimizer to the next.")
