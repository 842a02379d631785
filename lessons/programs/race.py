"""A race of optimizers down a valley that is a hundred times steeper across than along.

    minigrad python --mine 13b race.py
    minigrad python --mine 13b race.py --rate 0.021          what does plain SGD do now?
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import optim

Path = list[tuple[float, float]]


def height(place: Any) -> Any:
    """Return (x**2 + 100 y**2) / 2: its lowest point, 0, is in the middle."""
    return (place[0] ** 2 + 100 * place[1] ** 2) / 2


def runners(rate: float) -> dict[str, Callable[[Any], Any]]:
    """Return the optimizers by name."""
    return {"SGD": lambda it: optim.SGD(it, lr=rate),
            "momentum": lambda it: optim.SGD(it, lr=rate, momentum=0.9),
            "Adam": lambda it: optim.Adam(it, lr=0.1)}


def run(make: Callable[[Any], Any], steps: int) -> tuple[Path, list[float]]:
    """Return the places and the heights of a run from (1, 1)."""
    place = torch.tensor([1.0, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = make([place])
    path, heights = [], []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        now = height(place)
        now.backward()
        path.append(tuple(place.tolist()))
        heights.append(now.item())
        optimizer.step()
    return path, heights


def picture(path: Path, width: int = 61, rows_: int = 11) -> str:
    """Draw a path from (-1.2, -1.2) to (1.2, 1.2), with the last digit of each step's number."""
    rows = [[" "] * width for _ in range(rows_)]
    rows[rows_ // 2][width // 2] = "+"
    for number, (x, y) in reversed(list(enumerate(path))):
        row, column = round((1.2 - y) / 2.4 * (rows_ - 1)), round((x + 1.2) / 2.4 * (width - 1))
        if 0 <= row < rows_ and 0 <= column < width:
            rows[row][column] = str(number % 10)
    return "\n".join("".join(row).rstrip() for row in rows)


def main() -> None:
    """Let them run; print the heights, and draw the first steps of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rate", type=float, default=0.019, help="SGD's learning rate (0.019)")
    parser.add_argument("--steps", type=int, default=100, help="steps of each (100)")
    options = parser.parse_args()
    shown = [0, 1, 10, 30, options.steps]
    print(f"{'height after':12}" + "".join(f"{step:>10}" for step in shown))
    paths = {}
    for name, make in runners(options.rate).items():
        paths[name], heights = run(make, max(shown))
        print(f"{name:12}" + "".join(f"{heights[step]:10.1e}" for step in shown))
    for name, path in paths.items():
        print(f"--- {name}, its first 20 steps")
        print(picture(path[:21]))


if __name__ == "__main__":
    main()
