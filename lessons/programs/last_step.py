"""Find square roots by iteration, and record the last step alone: the slope is all there.

    minigrad python --mine 07 last_step.py
    minigrad python --mine 07 last_step.py 2 3 10 --steps 30
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import minigrad as torch
from minigrad.viz import walk


def step(x: Any, a: Any) -> Any:
    """Take one step of Heron's method towards the square root of `a`."""
    return (x + a / x) / 2


@torch.no_grad()
def iterates(a: Any, count: int) -> Iterator[Any]:
    """Yield the steps without recording them; the caller's code between them is recorded."""
    x = torch.ones_like(a)
    for _ in range(count):
        x = step(x, a)
        yield x


def all_recorded(a: Any, count: int) -> Any:
    """Return the root with the graph of every step."""
    x = torch.ones_like(a)
    for _ in range(count):
        x = step(x, a)
    return x


def last_recorded(a: Any, count: int) -> Any:
    """Return the root with the graph of one more step, from where the others led."""
    x = torch.ones_like(a)
    for x in iterates(a, count):  # noqa: B007  the last one is wanted
        pass
    return step(x, a)


def main() -> None:
    """Compare both ways for each number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("numbers", nargs="*", type=float, default=[2.0, 3.0, 10.0])
    parser.add_argument("--steps", type=int, default=20, help="steps of the iteration (20)")
    options = parser.parse_args()
    if min(options.numbers) <= 0 or options.steps < 1:
        parser.error("numbers are positive, --steps is 1 or more")
    print(f"{'':25}root      slope     1/(2 root)  nodes")
    for number in options.numbers:
        for name, find in (("every step", all_recorded), ("the last step", last_recorded)):
            a = torch.tensor(number, dtype=torch.float64, requires_grad=True)
            root = find(a, options.steps)
            nodes = sum(1 for _ in walk([root.grad_fn]))
            root.backward()
            print(f"{number:<6g} {name:16}  {root.item():.6f}  {a.grad.item():.6f}  "
                  f"{0.5 / root.item():.6f}  {nodes:6}")


if __name__ == "__main__":
    main()
