"""Train a small network on two half moons, with the engine on numbers, and draw its boundary.

    minigrad python --mine 00 moons.py                 on your own engine
    python lessons/programs/moons.py --units 3 --rate 0.5
"""

from __future__ import annotations

import argparse
import random

from minigrad.tiny import Number, descend, tanh
from minigrad_course.demos.two_moons import Point, picture, two_moons


class Network:
    """A layer of tanh units and one unit that weighs them."""

    def __init__(self, units: int, seed: int) -> None:
        draw = random.Random(seed).uniform
        self.hidden = [[Number(draw(-1, 1)) for _ in range(3)] for _ in range(units)]
        self.last = [Number(draw(-1, 1)) for _ in range(units + 1)]
        self.weights = [weight for row in (*self.hidden, self.last) for weight in row]

    def __call__(self, point: Point) -> Number:
        """Return a Number near 1.0 for the upper moon, near -1.0 for the lower one."""
        x, y = point
        total = self.last[-1]
        for weight, (a, b, c) in zip(self.last, self.hidden, strict=False):
            total = total + weight * tanh(a * x + b * y + c)
        return tanh(total)


def main() -> None:
    """Train, and print the loss, the picture and how many points are on the right side."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=8, help="hidden units (8)")
    parser.add_argument("--points", type=int, default=40, help="points on both moons (40)")
    parser.add_argument("--steps", type=int, default=100, help="steps of training (100)")
    parser.add_argument("--rate", type=float, default=1.0, help="rate of descent (1.0)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first weights (0)")
    chosen = parser.parse_args()
    if chosen.units < 1 or chosen.points < 4 or chosen.steps < 1:
        parser.error("--units and --steps are 1 or more, --points 4 or more")
    network, points = Network(chosen.units, chosen.seed), two_moons(chosen.points)
    for step in range(chosen.steps + 1):
        loss = Number(0.0)
        for point, label in points:
            error = network(point) - label
            loss = loss + error * error
        loss = loss / len(points)
        descend(loss, network.weights, chosen.rate)
        if step % max(1, chosen.steps // 4) == 0:
            print(f"step {step:4}: loss {loss.value:.4f}")
    print(picture(lambda point: network(point).value, points))
    right = sum(network(point).value * label > 0 for point, label in points)
    print(f"{right} of {len(points)} points are on the right side")


if __name__ == "__main__":
    main()
