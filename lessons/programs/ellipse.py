"""Fit a curved boundary by Newton's method, on an operation of your own and its derivatives.

    minigrad python --mine 04d ellipse.py               on your own engine
    minigrad python --mine 04d ellipse.py --points 200

The loss is the mean of log(1 + exp(-label * score)). Its gradient and its matrix of second
derivatives come from one formula of one line: the rest is the engine's work.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.examples.softplus import declare_log1p_exp
from minigrad.op.publish import publish
from minigrad_course.demos.two_moons import Point, picture


def two_clouds(count: int) -> list[tuple[Point, float]]:
    """Return points with their labels: 1.0 in a cloud that lies in a ring of those with -1.0."""
    random = np.random.default_rng(4)
    found = []
    for i in range(count):
        angle, inside = random.uniform(0, 2 * np.pi), i % 2 == 0
        radius = random.normal(0.4 if inside else 0.95, 0.25)
        found.append(((0.5 + 1.3 * radius * np.cos(angle), 0.25 + 0.7 * radius * np.sin(angle)),
                      1.0 if inside else -1.0))
    return found


def features(point: Point) -> list[float]:
    """Return what a point's score is a sum of: a conic section is where the score is zero."""
    x, y = point
    return [1.0, x, y, x * x, x * y, y * y]


def newton_step(loss: Any, weights: Any) -> float:
    """Move the weights to where the gradient would be zero; return the gradient's length."""
    (gradient,) = torch.autograd.grad(loss, weights, create_graph=True)
    rows = [torch.autograd.grad(each, weights, retain_graph=True)[0] for each in gradient]
    step = np.linalg.solve(torch.stack(rows).numpy(), gradient.detach().numpy())
    with torch.no_grad():
        weights -= torch.tensor(step)
    return float(np.linalg.norm(gradient.detach().numpy()))


def main() -> None:
    """Take steps until the gradient is zero, and draw the boundary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=60, help="points in both clouds (60)")
    chosen = parser.parse_args()
    publish(declare_log1p_exp())
    points = two_clouds(chosen.points)
    inputs = torch.tensor(np.array([features(point) for point, _ in points]))
    labels = torch.tensor(np.array([label for _, label in points]))
    weights = torch.zeros(6, dtype=torch.float64).requires_grad_()
    for step in range(1, 21):
        loss = (-labels * (inputs @ weights)).log1p_exp().mean()
        length = newton_step(loss, weights)
        print(f"step {step}: loss {loss.item():.6f}, length of the gradient {length:.1e}")
        if length < 1e-12:
            break
    found = weights.detach().numpy()
    print(picture(lambda point: float(np.dot(features(point), found)), points))
    right = sum(np.dot(features(point), found) * label > 0 for point, label in points)
    print(f"{right} of {len(points)} points are on the right side")


if __name__ == "__main__":
    main()
