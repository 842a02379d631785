"""Walk to the bottom of x**4 - 3x**2 + x by Newton's method: the gradient of a gradient.

    minigrad python --mine 03b newton.py
    minigrad python --mine 03b newton.py --start -2          the other valley
"""

from __future__ import annotations

import argparse
from typing import Any

import minigrad as torch
from minigrad.autograd import grad


def curve(x: Any) -> Any:
    """Two valleys with a hill between them."""
    return x ** 4 - 3 * x ** 2 + x


def newton(start: float, steps: int) -> list[tuple[float, float, float]]:
    """Return where each step is, with the slope and the curvature there."""
    path, place = [], start
    for _ in range(steps + 1):
        x = torch.tensor(place, dtype=torch.float64, requires_grad=True)
        (slope,) = grad(curve(x), x, create_graph=True)
        (curvature,) = grad(slope, x)
        path.append((place, slope.item(), curvature.item()))
        place -= slope.item() / curvature.item()
    return path


def picture(places: list[float], width: int = 61, height: int = 15) -> str:
    """Draw the curve from -2.25 to 2.25, with the number of the step that came to a place."""
    left, right, low, high = -2.25, 2.25, -4.0, 6.0
    rows = [[" "] * width for _ in range(height)]

    def mark(x: float, sign: str) -> None:
        column = round((x - left) / (right - left) * (width - 1))
        row = round((high - curve(x)) / (high - low) * (height - 1))
        if 0 <= column < width and 0 <= row < height:
            rows[row][column] = sign

    for i in range(width):
        mark(left + (right - left) * i / (width - 1), "·")
    for number, place in reversed(list(enumerate(places))):
        mark(place, str(number % 10))
    return "\n".join("".join(row).rstrip() for row in rows)


def main() -> None:
    """Take the steps and draw them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--start", type=float, default=2.0, help="where to begin (2)")
    parser.add_argument("--steps", type=int, default=5, help="steps to take (5)")
    options = parser.parse_args()
    path = newton(options.start, options.steps)
    for number, (x, slope, curvature) in enumerate(path):
        print(f"step {number}: x {x:8.4f}   slope {slope:10.2e}   curvature {curvature:8.4f}")
    print(picture([x for x, _, _ in path]))


if __name__ == "__main__":
    main()
