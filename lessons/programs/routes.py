"""Plan a route over hills with `minimum` and `+`: the gradient of the distance is the route.

    minigrad python --mine 04a routes.py               on your own formulas
    python lessons/programs/routes.py --doubt 1.2      travellers who hardly mind a detour

A second map softens the minimum with exp and log. The gradient of that distance with respect to a
place is how often travellers come by who mostly, but not always, take the shorter way.
"""

from __future__ import annotations

import argparse

import minigrad as torch
from minigrad import Tensor
from minigrad_course.demos.hill_map import COLUMNS, GOAL, ROWS, START, efforts, picture

FAR = 1e4


def neighbours(found: Tensor) -> list[Tensor]:
    """Return for each place what was found above, below, left and right of it."""
    row, column = torch.full((1, COLUMNS), FAR), torch.full((ROWS, 1), FAR)
    return [torch.cat([row, found[:-1]]), torch.cat([found[1:], row]),
            torch.cat([column, found[:, :-1]], 1), torch.cat([found[:, 1:], column], 1)]


def smallest(values: list[Tensor], doubt: float) -> Tensor:
    """Return the smallest of four distances; with a doubt above zero a soft minimum."""
    a, b, c, d = values
    least = torch.minimum(torch.minimum(a, b), torch.minimum(c, d))
    if not doubt:
        return least
    total = sum(torch.exp((least - each) / doubt) for each in values)
    return least - torch.log(total) * doubt


def distance(effort: Tensor, doubt: float, steps: int) -> Tensor:
    """Return the least effort from START to GOAL, both included."""
    goal = torch.zeros(ROWS, COLUMNS, dtype=torch.bool)
    goal[GOAL] = True
    found = torch.where(goal, effort, FAR)
    for _ in range(steps):
        found = torch.where(goal, effort, effort + smallest(neighbours(found), doubt))
    return found[START]


def main() -> None:
    """Print the route, then the ways of travellers who are in doubt."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--doubt", type=float, default=0.6, help="how soft the minimum is (0.6)")
    parser.add_argument("--steps", type=int, default=80, help="longest route, in places (80)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the small bumps (0)")
    chosen = parser.parse_args()
    if chosen.doubt <= 0 or chosen.steps < COLUMNS:
        parser.error(f"--doubt is above 0, --steps is {COLUMNS} or more")
    values = efforts(chosen.seed)
    for doubt, title in ((0.0, "the route"), (chosen.doubt, "travellers in doubt")):
        effort = torch.tensor(values, requires_grad=True)
        least = distance(effort, doubt, chosen.steps)
        least.backward()
        print(f"{title}: effort {least.item():.2f}, {effort.grad.sum().item():.1f} places")
        print(picture(values, effort.grad.numpy()))


if __name__ == "__main__":
    main()
