"""Walk through the banana valley by gradient descent and by Newton's method.

    minigrad python --mine 08 rosenbrock.py
    minigrad python --mine 08 rosenbrock.py --start 0 2
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.autograd.functional import hessian, jacobian

Path = list[tuple[float, float]]


def valley(x: Any) -> Any:
    """Return Rosenbrock's function: a bent valley with its lowest point, 0, at (1, 1)."""
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def newton(start: list[float], steps: int = 50) -> Path:
    """Divide the gradient by the hessian: each step solves two equations."""
    x = torch.tensor(start, dtype=torch.float64)
    path = [tuple(x.tolist())]
    while len(path) <= steps and valley(x).item() > 1e-12:
        x = x - torch.linalg.solve(hessian(valley, x), jacobian(valley, x))
        path.append(tuple(x.tolist()))
    return path


def descent(start: list[float], steps: int, rate: float = 1.5e-3) -> Path:
    """Follow the gradient alone."""
    x = torch.tensor(start, dtype=torch.float64)
    path = [tuple(x.tolist())]
    while len(path) <= steps and valley(x).item() > 1e-12:
        x = x - rate * jacobian(valley, x)
        path.append(tuple(x.tolist()))
    return path


def picture(paths: dict[str, Path], width: int = 61, height: int = 21) -> str:
    """Draw the valley, darker where it is lower, and each path with its sign."""
    across, down = np.linspace(-2, 2, width), np.linspace(3, -1.5, height)
    depth = np.log10(1e-9 + valley(np.meshgrid(across, down)))
    rows = [["▓" if d < 0 else "▒" if d < 1 else "·" if d < 2 else " " for d in line]
            for line in depth]
    for sign, path in paths.items():
        for x, y in path:
            row, column = round((3 - y) / 4.5 * (height - 1)), round((x + 2) / 4 * (width - 1))
            if 0 <= row < height and 0 <= column < width:
                rows[row][column] = sign
    return "\n".join("".join(row).rstrip() for row in rows)


def main() -> None:
    """Take both walks and draw them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--start", type=float, nargs=2, default=[-1.2, 1.0])
    parser.add_argument("--steps", type=int, default=1000, help="steps of descent (1000)")
    options = parser.parse_args()
    slow, quick = descent(options.start, options.steps), newton(options.start)
    for name, path in (("gradient descent", slow), ("Newton's method", quick)):
        height = valley(torch.tensor(path[-1], dtype=torch.float64)).item()
        print(f"{name:16}: {len(path) - 1:4} steps, ends at ({path[-1][0]:.4f}, "
              f"{path[-1][1]:.4f}), height {height:.1e}")
    print(picture({"o": slow, "N": quick}))


if __name__ == "__main__":
    main()
