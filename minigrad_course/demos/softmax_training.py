"""Train a small network with a softmax to classify points from four clouds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import minigrad as torch
from minigrad import Tensor

__all__ = ["SOFTMAX", "four_clouds", "train"]

#: The centres of the clouds, on one line.
CENTRES = ((-1.0, 0.0), (1.0, 0.0), (3.0, 0.0), (5.0, 0.0))

Softmax = Callable[[Tensor], Tensor]


def new_tensor(scores: Tensor) -> Tensor:
    """Return the softmax of each row in a new tensor."""
    powers = scores.exp()
    return powers / powers.sum(1, True)


def in_place(scores: Tensor) -> Tensor:
    """Return the softmax of each row, computed in the memory of the exponentials."""
    powers = scores.exp()
    total = powers.sum(1, True)
    return powers.div_(total)


def in_place_data(scores: Tensor) -> Tensor:
    """Return the same, but write through `.data`, so that the engine does not notice."""
    powers = scores.exp()
    powers.data.div_(powers.sum(1, True).data)
    return powers


SOFTMAX: dict[str, Softmax] = {
    "in place, .data": in_place_data, "in place": in_place, "a new tensor": new_tensor,
}


def four_clouds(count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return `count` points in four clouds, and the number of each point's cloud."""
    draw = np.random.default_rng(seed)
    labels = np.arange(count) % 4
    points = np.array(CENTRES)[labels] + draw.normal(0.0, 0.25, (count, 2))
    return torch.tensor(points), torch.tensor(labels)


def train(softmax: Softmax, points: Tensor, labels: Tensor, steps: int = 60, rate: float = 0.3,
          units: int = 8) -> tuple[list[float], float, str]:
    """Train, and return the loss before each step, the final accuracy, and the error, if any.

    An error in the backward pass ends the training.
    """
    draw = np.random.default_rng(1)
    shapes = ((2, units), (units,), (units, 4), (4,))
    weights = [torch.tensor(draw.normal(0.0, 1.0, shape), requires_grad=True) for shape in shapes]
    first, bias, second, other = weights
    losses, error, rows = [], "", torch.arange(len(labels))
    for _ in range(steps):
        chances = softmax((points @ first + bias).tanh() @ second + other)
        loss = -chances[rows, labels].log().mean()
        losses.append(loss.item())
        try:
            loss.backward()
        except RuntimeError as raised:
            error = str(raised)
            break
        with torch.no_grad():
            for weight in weights:
                if weight.grad is not None:
                    weight -= rate * weight.grad
                weight.grad = None
    chances = softmax((points @ first + bias).tanh() @ second + other)
    right = (chances.argmax(1) == labels).to(torch.float64).mean().item()
    return losses, right, error
