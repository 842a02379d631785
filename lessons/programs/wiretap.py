"""Listen to the gradient as it passes ten sigmoids, then let hooks answer.

    minigrad python --mine 05 wiretap.py
    minigrad python --mine 05 wiretap.py --layers 20
    minigrad python --mine 05 wiretap.py --function tanh
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import minigrad as torch


def gradients(layers: int, function: str, answer: Callable[[Any], Any] | None = None
              ) -> tuple[list[float], float]:
    """Return what hooks hear on the way back through the layers, and what arrives at the leaf."""
    heard: list[float] = []
    leaf = x = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    for _ in range(layers):
        x = getattr(torch, function)(x)
        x.register_hook(lambda grad: heard.append(grad.item()))
        if answer is not None:
            x.register_hook(answer)
    x.backward()
    return heard, leaf.grad.item()


def bar(value: float, width: int = 60) -> str:
    """Return a bar for a gradient: full for 1, empty for 1e-12 and less."""
    return "█" * round(width * (1 + math.log10(max(abs(value), 1e-12)) / 12))


def main() -> None:
    """Listen only; then answer with four times the gradient, and with a clipped one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layers", type=int, default=10, help="functions in the chain (10)")
    parser.add_argument("--function", default="sigmoid", choices=["sigmoid", "tanh", "relu"])
    options = parser.parse_args()
    heard, arrived = gradients(options.layers, options.function)
    for number, value in enumerate(heard):
        place = f"output of {options.function} {options.layers - number:2}"
        print(f"{place}: {value:8.1e} {bar(value)}")
    print(f"{'at the leaf':{len(options.function) + 13}}: {arrived:8.1e} {bar(arrived)}")

    _, louder = gradients(options.layers, options.function, lambda grad: grad * 4)
    print(f"hooks that answer with grad * 4: {louder:.1e} arrives")
    _, clipped = gradients(options.layers, options.function,
                           lambda grad: (grad * 100).clamp(-1.0, 1.0))
    print(f"hooks that answer with grad * 100, clipped to 1: {clipped:.1e} arrives")


if __name__ == "__main__":
    main()
