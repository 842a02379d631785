"""Tell three clouds of points apart by softmax regression: sums, products and indices.

    minigrad python --mine 04b clouds.py
    minigrad python --mine 04b clouds.py --steps 5
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import minigrad as torch

CENTRES = np.array([[-1.0, -0.6], [1.0, -0.6], [0.0, 0.9]])
SIGNS = "ox+"


def clouds(count: int) -> tuple[Any, Any]:
    """Return `count` points around each centre, and the number of the cloud of each."""
    rng = np.random.default_rng(0)
    points = np.repeat(CENTRES, count, axis=0) + 0.35 * rng.standard_normal((3 * count, 2))
    return torch.from_numpy(points), torch.from_numpy(np.repeat(np.arange(3), count))


def scores(points: Any, weight: Any, bias: Any) -> Any:
    """Return a score for each point and cloud: (n, 3)."""
    return points @ weight + bias


def loss_of(scored: Any, wanted: Any) -> Any:
    """Return the mean of -log(softmax) at the wanted clouds."""
    return (torch.logsumexp(scored, 1) - scored[torch.arange(len(wanted)), wanted]).mean()


def picture(weight: Any, bias: Any, points: Any, wanted: Any, width: int = 57, height: int = 19
            ) -> str:
    """Draw which cloud wins at each place, and the points; in capitals `OX#` where it is wrong."""
    across, down = np.linspace(-2.0, 2.0, width), np.linspace(1.8, -1.6, height)
    grid = np.stack(np.meshgrid(across, down), -1).reshape(-1, 2)
    with torch.no_grad():
        winners = scores(torch.from_numpy(grid), weight, bias).argmax(1).numpy()
        found = scores(points, weight, bias).argmax(1).tolist()
    rows = [[" ·:"[winner] for winner in line] for line in winners.reshape(height, width)]
    for (x, y), cloud, guess in zip(points.tolist(), wanted.tolist(), found, strict=True):
        row, column = round((1.8 - y) / 3.4 * (height - 1)), round((x + 2) / 4 * (width - 1))
        if 0 <= row < height and 0 <= column < width:
            rows[row][column] = SIGNS[cloud] if cloud == guess else "OX#"[cloud]
    return "\n".join("".join(row).rstrip() for row in rows)


def main() -> None:
    """Go downhill, and draw the regions."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=100, help="steps of descent (100)")
    parser.add_argument("--rate", type=float, default=1.0, help="rate of descent (1.0)")
    options = parser.parse_args()
    points, wanted = clouds(30)
    weight = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    for step in range(options.steps + 1):
        loss = loss_of(scores(points, weight, bias), wanted)
        if step % max(1, options.steps // 4) == 0:
            print(f"step {step:3}: loss {loss.item():.4f}")
        for each, slope in zip((weight, bias), torch.autograd.grad(loss, (weight, bias)),
                               strict=True):
            with torch.no_grad():
                each -= options.rate * slope
    print(picture(weight, bias, points, wanted))
    with torch.no_grad():
        right = int((scores(points, weight, bias).argmax(1) == wanted).sum().item())
    print(f"{right} of {len(points)} points are in their region")


if __name__ == "__main__":
    main()
