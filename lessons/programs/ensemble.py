"""Train twelve networks at once with vmap, and draw where they agree.

    minigrad python --mine 08b ensemble.py                 on your own engine
    python lessons/programs/ensemble.py --models 30 --steps 200
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Sequence

import minigrad as torch
from minigrad.func import grad_and_value, vmap

BARS = "▁▂▃▄▅▆▇█"
Weights = tuple[torch.Tensor, ...]


def column(numbers: list[float]) -> torch.Tensor:
    """Return numbers as a column of float64: digits then do not depend on the machine."""
    return torch.tensor(numbers, dtype=torch.float64).reshape(-1, 1)


def examples(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return noisy points of a wave: some on the left, some on the right, none between them."""
    draw = random.Random(seed)
    places = [-2.0 + 1.2 * i / 11 for i in range(12)] + [0.9 + 1.1 * i / 11 for i in range(12)]
    values = [math.sin(2.5 * x) + draw.gauss(0, 0.05) for x in places]
    return column(places), column(values)


def network(weights: Weights, x: torch.Tensor) -> torch.Tensor:
    """Return what one network says to each row of x: two layers of tanh, and a sum."""
    w1, b1, w2, b2, w3 = weights
    return torch.tanh(torch.tanh(x @ w1 + b1) @ w2 + b2) @ w3


def loss(weights: Weights, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the mean squared error of one network."""
    error = network(weights, x) - y
    return (error * error).mean()


def first_weights(models: int, seed: int, units: int = 12) -> list[torch.Tensor]:
    """Return random weights of all models, stacked: the first dimension counts models."""
    draw = random.Random(seed).gauss

    def stack(rows: int, columns: int, size: float) -> torch.Tensor:
        return torch.tensor([[[draw(0, size) for _ in range(columns)] for _ in range(rows)]
                             for _ in range(models)], dtype=torch.float64)

    return [stack(1, units, 1.5), stack(1, units, 1.5), stack(units, units, 0.4),
            stack(1, units, 0.4), stack(units, 1, 0.4)]


def curve(losses: Sequence[float], width: int = 40) -> str:
    """Draw losses as bars, on a logarithmic scale from 1 down to 1/1000."""
    chosen = [losses[i * (len(losses) - 1) // (width - 1)] for i in range(width)]
    heights = [min(max((math.log10(max(each, 1e-9)) + 3) / 3, 0.0), 1.0) for each in chosen]
    return "".join(BARS[round(height * (len(BARS) - 1))] for height in heights)


def picture(x: torch.Tensor, y: torch.Tensor, outputs: torch.Tensor, grid: list[float],
            rows: int = 17) -> str:
    """Draw the points (o), the mean of all models (*), and how far they spread (·)."""
    def row(value: float) -> int:
        return round((1.8 - min(max(value, -1.8), 1.8)) / 3.6 * (rows - 1))

    canvas = [[" "] * len(grid) for _ in range(rows)]
    for column in range(len(grid)):
        said = outputs[:, column].tolist()
        mean = sum(said) / len(said)
        spread = math.sqrt(sum((each - mean) ** 2 for each in said) / len(said))
        for line in range(row(mean + 2 * spread), row(mean - 2 * spread) + 1):
            canvas[line][column] = "·"
        canvas[row(mean)][column] = "*"
    step = (grid[-1] - grid[0]) / (len(grid) - 1)
    for place, value in zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True):
        canvas[row(value)][round((place - grid[0]) / step)] = "o"
    return "\n".join("".join(line).rstrip() for line in canvas)


def main() -> None:
    """Train all models together; print their loss curves and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=12, help="networks (12)")
    parser.add_argument("--steps", type=int, default=300, help="steps of training (300)")
    parser.add_argument("--rate", type=float, default=0.02, help="rate of descent (0.02)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first weights (0)")
    chosen = parser.parse_args()
    if chosen.models < 2 or chosen.steps < 1:
        parser.error("--models is 2 or more, --steps 1 or more")
    x, y = examples(1)
    weights = first_weights(chosen.models, chosen.seed)
    slopes_of_all = vmap(grad_and_value(loss), in_dims=(0, None, None))
    first = [torch.zeros_like(w) for w in weights]
    second = [torch.zeros_like(w) for w in weights]
    curves: list[list[float]] = []
    for step in range(1, chosen.steps + 1):
        slopes, losses = slopes_of_all(tuple(weights), x, y)
        curves.append(losses.tolist())
        for i, slope in enumerate(slopes):  # Adam, of all models together
            first[i] = 0.9 * first[i] + 0.1 * slope
            second[i] = 0.99 * second[i] + 0.01 * slope * slope
            rate = chosen.rate * math.sqrt(1 - 0.99**step) / (1 - 0.9**step)
            weights[i] = weights[i] - rate * first[i] / (second[i].sqrt() + 1e-8)
    print("loss of each model from the first step to the last: 1 is a full bar, 1/1000 none")
    for model in range(chosen.models):
        losses = [each[model] for each in curves]
        print(f"model {model:2}  {curve(losses)}  {losses[-1]:.4f}")
    grid = [-2.2 + 4.4 * i / 71 for i in range(72)]
    outputs = vmap(network, (0, None))(tuple(weights), column(grid))
    print("o a point   * the mean of all models   · two standard deviations around it")
    print(picture(x, y, outputs.reshape(chosen.models, -1), grid))
    print(f"{chosen.models} networks, {chosen.steps} steps: the loss was called "
          f"{chosen.steps} times, not {chosen.models * chosen.steps:,}")


if __name__ == "__main__":
    main()
