"""Race the naive engine against the real one where paths are many, then train such a network.

    minigrad python --mine 03 paths.py                 on your own engines
    python lessons/programs/paths.py --blocks 12 --steps 30
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.engine.graph_task import GraphTask
from minigrad.examples.naive_engine import NaiveEngine
from minigrad.graph.node import GraphRoot
from minigrad_course.demos.two_moons import picture, two_moons

#: After so many calls the naive engine gives up.
PATIENCE = 30_000


class GaveUp(Exception):
    """The naive engine has lost its patience."""


class Naive(NaiveEngine):
    """The naive engine, with an end to its patience."""

    def call(self, node: Any, index: int, grad: Any) -> Sequence[Any]:
        """Call a node, while there is patience."""
        if self.calls == PATIENCE:
            raise GaveUp
        return super().call(node, index, grad)


class Counted(GraphTask):
    """A pass that counts the nodes that it calls."""

    calls = 0

    def call(self, node: Any, grads: Any) -> Sequence[Any]:
        """Call a node and count it."""
        self.calls += 1
        return super().call(node, grads)


def counted_backward(result: Any) -> int:
    """Run a backward pass and return how many nodes were called, the root aside."""
    task = Counted(False, False)
    root = GraphRoot([result._edge()], [np.ones_like(result.detach().numpy())])
    task.count_dependencies(root)
    task.run(root)
    return task.calls - 1


def naive_calls(result: Any) -> int:
    """Return how many calls the naive engine needs: count paths, and walk none."""
    order, seen = [result.grad_fn], {result.grad_fn}
    for node in order:
        for target, _ in node.edges:
            if target is not None and target not in seen and target.edges:
                seen.add(target)
                order.append(target)
    paths = dict.fromkeys(order, 0)
    paths[result.grad_fn] = 1
    for node in sorted(order, key=lambda node: node.sequence, reverse=True):
        for target, _ in node.edges:
            if target in paths:
                paths[target] += paths[node]
    return sum(paths.values())


def fibonacci(count: int) -> tuple[Any, Any]:
    """Return the leaf and the last number of: p, q = q, p + q, so many times."""
    p = q = x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    for _ in range(count):
        p, q = q, p + q
    return x, q


def race() -> None:
    """Let both engines run on longer and longer graphs."""
    print("p, q = q, p + q: calls of the naive engine, and of yours\n")
    for count in range(4, 29, 4):
        _, result = fibonacci(count)
        machine = Naive()
        try:
            machine.backward(result)
            told = f"{machine.calls:,}"
        except GaveUp:
            told = "gave up"
        bar = "█" * math.ceil(30 * machine.calls / PATIENCE)
        print(f"{count:3} steps  {told:>8} {bar:31}{counted_backward(result):4}")
    x, result = fibonacci(90)
    calls = counted_backward(result)
    years = naive_calls(result) / 1e6 / 3600 / 24 / 365
    print(f"\n 90 steps: yours needs {calls} calls for the slope {x.grad.item():.3e}; the naive "
          f"engine,\n           at a million calls a second, {years:,.0f} years")


class Residual:
    """A network of blocks h + tanh(h w + b): the gradient forks at each."""

    def __init__(self, blocks: int, units: int, seed: int) -> None:
        torch.manual_seed(seed)

        def draw(*shape: int) -> Any:
            return (torch.randn(*shape) * 0.3).requires_grad_()

        self.first, self.last = draw(2, units), draw(units, 1)
        self.blocks = [(draw(units, units), draw(units)) for _ in range(blocks)]
        self.weights = [self.first, self.last, *(each for pair in self.blocks for each in pair)]

    def __call__(self, points: Any) -> Any:
        """Return a number near 1 for each point of the upper moon, near -1 for the lower one."""
        h = points @ self.first
        for w, b in self.blocks:
            h = h + torch.tanh(h @ w + b)
        return torch.tanh(h @ self.last)[:, 0]


def drawn(network: Residual, points: Any) -> str:
    """Return a picture of what the network says; it answers for all places at once."""
    places = []
    picture(lambda place: places.append(place) or 0.0, points)
    with torch.no_grad():
        answers = iter(network(torch.tensor(places)).tolist())
    return picture(lambda place: next(answers), points)


def train(blocks: int, steps: int, rate: float, seed: int) -> None:
    """Train a residual network on two moons."""
    points = two_moons(40)
    inputs = torch.tensor([place for place, _ in points])
    labels = torch.tensor([label for _, label in points])
    network = Residual(blocks, 6, seed)
    print(f"\nA residual network of {blocks} blocks, on two moons\n")
    for step in range(steps + 1):
        error = network(inputs) - labels
        loss = (error * error).mean()
        if step == 0:
            print(f"each step: {naive_calls(loss):,} calls of the naive engine; ", end="")
        for weight in network.weights:
            weight.grad = None
        calls = counted_backward(loss)
        if step == 0:
            print(f"yours: {calls}")
        with torch.no_grad():
            for weight in network.weights:
                weight -= rate * weight.grad
        if step % max(1, steps // 4) == 0:
            print(f"step {step:4}: loss {loss.item():.4f}")
    print(drawn(network, points))
    right = int(((network(inputs) * labels) > 0).sum())
    print(f"{right} of {len(points)} points are on the right side")


def main() -> None:
    """Race, then train."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--blocks", type=int, default=24, help="blocks of the network (24)")
    parser.add_argument("--steps", type=int, default=100, help="steps of training (100)")
    parser.add_argument("--rate", type=float, default=0.02, help="rate of descent (0.02)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first weights (0)")
    chosen = parser.parse_args()
    if chosen.blocks < 1 or chosen.steps < 1:
        parser.error("--blocks and --steps are 1 or more")
    race()
    train(chosen.blocks, chosen.steps, chosen.rate, chosen.seed)


if __name__ == "__main__":
    main()
