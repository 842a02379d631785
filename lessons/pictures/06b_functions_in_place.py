"""Pictures of lesson 06b."""

from __future__ import annotations

import weakref

import minigrad as torch
from minigrad import Tensor
from minigrad.autograd import Function
from minigrad.examples.checkpoint import in_segments
from minigrad_course.pictures import Picture, backward_graph, bars

COUNTS = (0, 1, 2, 4, 8, 16, 32, 64)


class Reverse(Function):
    """Returns its input, and turns the sign of the gradient."""

    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        return x

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> Tensor:
        return -grad


def two_places() -> Picture:
    """The graph of a Function that returns its input, and of the input beside it."""
    x = torch.tensor([2.0], requires_grad=True)
    y = Reverse.apply(x)
    total = y * 10 + x * 3
    return Picture(
        backward_graph(total, {"x": x}),
        "Two tensors that share memory, each with a separate place in the graph",
        "From AddBackward0, two dashed arrows lead to two products. One product leads to the node "
        "of Reverse and from there to AccumulateGrad of x, and the other leads straight to "
        "AccumulateGrad of x.",
        "`y` is output 0 of `ReverseBackward`, while `x` is still a leaf, so each of them "
        "receives the right gradients.")


def peak(segments: int) -> int:
    """Return how many results of 64 steps are in memory at most."""
    alive: set[int] = set()
    seen = [0, 0]

    def step(x: Tensor) -> Tensor:
        y, number = x.tanh(), seen[0]
        seen[0] += 1
        alive.add(number)
        weakref.finalize(y._array, alive.discard, number)
        seen[1] = max(seen[1], len(alive))
        return y

    x = torch.tensor([0.5], requires_grad=True)
    y = in_segments([step] * 64, x, segments)
    y.backward()
    return seen[1]


def memory_of_segments() -> Picture:
    """How many results are in memory at most, by the number of segments."""
    names = {0: "no checkpoints", 1: "1 segment"}
    rows = [(names.get(count, f"{count} segments"), float(peak(count)), "on-forward")
            for count in COUNTS]
    told = ", ".join(f"{name} {value:.0f}" for name, value, _ in rows)
    return Picture(
        bars(rows), "Results in memory at most, for 64 steps and different numbers of segments",
        f"Level bars: {told}.",
        "With k segments, at most k + 64/k results are in memory. This number is smallest for 8 "
        "segments of 8 steps.")
