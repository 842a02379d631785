"""Train a deep network with dropout on two half moons, with and without checkpoints.

    minigrad python --mine 06b segments.py                 on your own checkpoints
    python lessons/programs/segments.py --depth 256 --segments 16
"""

from __future__ import annotations

import argparse
import weakref
from collections.abc import Callable

import minigrad as torch
from minigrad import Tensor
from minigrad.examples.checkpoint import in_segments
from minigrad_course.demos.two_moons import Point, picture, two_moons

WIDTH = 8


class Network:
    """A chain of small steps, each of which drops a tenth of what it adds."""

    def __init__(self, depth: int) -> None:
        torch.manual_seed(0)
        self.first = (torch.rand(3, WIDTH) * 4 - 2).requires_grad_()
        self.middle = [(torch.rand(WIDTH, WIDTH) - 0.5).requires_grad_() for _ in range(depth)]
        self.last = (torch.rand(WIDTH, 1) - 0.5).requires_grad_()
        self.weights = [self.first, *self.middle, self.last]
        self.calls = self.peak = 0
        self.alive: set[int] = set()

    def step(self, weight: Tensor, drop: bool) -> Callable[[Tensor], Tensor]:
        """Return one step of the chain; it notes its calls, and how many results are in memory."""
        def run(x: Tensor) -> Tensor:
            added = (x @ weight).tanh()
            if drop:
                added = added * (torch.rand(added.shape) < 0.9).to(added.dtype)
            result = x + added * (4 / len(self.middle))
            number, self.calls = self.calls, self.calls + 1
            self.alive.add(number)
            weakref.finalize(result._array, self.alive.discard, number)
            self.peak = max(self.peak, len(self.alive))
            return result
        return run

    def __call__(self, points: Tensor, segments: int = 0, drop: bool = False) -> Tensor:
        """Return a number near 1 for the upper moon, near -1 for the lower one."""
        steps = [self.step(weight, drop) for weight in self.middle]
        points = torch.cat([points, torch.ones(len(points), 1)], 1)  # the last one is for a bias
        return (in_segments(steps, (points @ self.first).tanh(), segments) @ self.last)[:, 0]


def main() -> None:
    """Train twice from the same numbers, and print losses, calls, memory and the boundary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--depth", type=int, default=64, help="steps of the network (64)")
    parser.add_argument("--segments", type=int, default=8, help="checkpoints (8)")
    parser.add_argument("--rounds", type=int, default=60, help="steps of training (60)")
    parser.add_argument("--rate", type=float, default=0.2, help="rate of descent (0.2)")
    chosen = parser.parse_args()
    if chosen.depth < 1 or chosen.segments < 1 or chosen.rounds < 1:
        parser.error("--depth, --segments and --rounds are 1 or more")
    moons = two_moons(40)
    points = torch.tensor([point for point, _ in moons])
    labels = torch.tensor([label for _, label in moons])
    found = {}
    for name, segments in (("no checkpoints", 0), (f"{chosen.segments} segments", chosen.segments)):
        network, losses = Network(chosen.depth), []
        for _ in range(chosen.rounds):
            loss = (network(points, segments, drop=True) - labels).square().mean()
            loss.backward()
            losses.append(loss.item())
            with torch.no_grad():
                for weight in network.weights:
                    weight -= chosen.rate * weight.grad
                    weight.grad = None
        found[name] = losses
        print(f"{name:14}: loss {losses[0]:.4f} -> {losses[-1]:.4f}, {network.peak} results in "
              f"memory at most, {network.calls // chosen.rounds} steps for a round")
    first, second = found.values()
    print("all losses are equal to the last bit" if first == second else "the losses differ")
    places: list[Point] = []
    picture(lambda point: places.append(point) or 1.0, moons)  # all points that a picture asks for
    with torch.no_grad():
        values = dict(zip(places, network(torch.tensor(places)).tolist(), strict=True))
    print(picture(values.__getitem__, moons))


if __name__ == "__main__":
    main()
