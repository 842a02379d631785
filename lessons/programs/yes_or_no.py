"""Train a network of units that say only 0 or 1, with honest gradients and with a useful lie.

    minigrad python --mine 01 yes_or_no.py             on your own Functions and machinery
    python lessons/programs/yes_or_no.py --units 5 --seed 1
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import minigrad as torch
from minigrad.examples.functions import Round, Sigmoid
from minigrad_course.demos.two_moons import Point, picture, two_moons

Step = Callable[[torch.Tensor], torch.Tensor]


class Network:
    """A layer of units that `step` makes 0 or 1, and one unit that weighs them."""

    def __init__(self, units: int, seed: int, step: Step) -> None:
        draw = np.random.default_rng(seed).uniform
        shapes = ((4.0, (2, units)), (2.0, (units,)), (1.0, (units, 1)), (1.0, (1,)))
        self.weights = [torch.tensor(draw(-size, size, shape), requires_grad=True)
                        for size, shape in shapes]
        self.step = step

    def __call__(self, points: torch.Tensor) -> torch.Tensor:
        """Return a number between 0 and 1 for each point: how sure it is of the upper moon."""
        a, b, c, d = self.weights
        units = self.step(Sigmoid.apply(points @ a + b))
        return Sigmoid.apply(units @ c + d)

    def says(self, point: Point) -> float:
        """Return a positive number for a point that is taken for the upper moon."""
        return self(torch.tensor(np.array([point]))).item() - 0.5


def train(network: Network, points: list[tuple[Point, float]], steps: int, rate: float) -> None:
    """Descend along the gradients of the mean squared error."""
    where = torch.tensor(np.array([point for point, _ in points]))
    wanted = torch.tensor(np.array([[(label + 1) / 2] for _, label in points]))
    for step in range(steps + 1):
        loss = ((network(where) - wanted) ** 2).mean()
        gradients = torch.autograd.grad(loss, network.weights)
        with torch.no_grad():
            for weight, gradient in zip(network.weights, gradients, strict=True):
                weight -= rate * gradient
        if step % max(1, steps // 3) == 0:
            print(f"step {step:4}: loss {loss.item():.4f}")


def main() -> None:
    """Train twice, and print both pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=8, help="hidden units (8)")
    parser.add_argument("--steps", type=int, default=300, help="steps of training (300)")
    parser.add_argument("--rate", type=float, default=8.0, help="rate of descent (8.0)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first weights (0)")
    chosen = parser.parse_args()
    if chosen.units < 1 or chosen.steps < 1:
        parser.error("--units and --steps are 1 or more")
    points = two_moons(40)
    for told, step in (("honest gradients", torch.round), ("straight through", Round.apply)):
        network = Network(chosen.units, chosen.seed, step)
        print(told)
        train(network, points, chosen.steps, chosen.rate)
        print(picture(network.says, points))
        right = sum(network.says(point) * label > 0 for point, label in points)
        print(f"{right} of {len(points)} points are on the right side\n")


if __name__ == "__main__":
    main()
