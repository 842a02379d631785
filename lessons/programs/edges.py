"""Learn the kernel of an edge detector from one image and its edges.

    minigrad python --mine 04c edges.py
    minigrad python --mine 04c edges.py --steps 10
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.nn.functional import conv2d

#: A drawing made by hand: the edges that a vertical Sobel kernel finds.
SOBEL = [[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]]


def disc(size: int = 16) -> Any:
    """Return an image of a speckled disc: (1, 1, size, size)."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    speckles = 0.5 + 0.5 * np.random.default_rng(0).random((size, size))
    return torch.from_numpy((np.clip(5.5 - np.hypot(x, y), 0, 1) * speckles)[None, None])


def drawn(image: Any) -> list[str]:
    """Return an image as lines: its lowest value dark, its highest bright."""
    values = image.detach().numpy()[0, 0]
    low, high = values.min(), max(values.max(), values.min() + 1e-9)
    return ["".join(" ░▒▓█"[round(4 * (v - low) / (high - low))] * 2 for v in row)
            for row in values]


def main() -> None:
    """Start from a kernel of zeros, and go downhill."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200, help="steps of descent (200)")
    parser.add_argument("--rate", type=float, default=0.8, help="rate of descent (0.8)")
    options = parser.parse_args()
    image = disc()
    wanted = conv2d(image, torch.tensor([[SOBEL]], dtype=torch.float64), padding=1)
    kernel = torch.zeros(1, 1, 3, 3, dtype=torch.float64, requires_grad=True)
    for step in range(options.steps + 1):
        error = ((conv2d(image, kernel, padding=1) - wanted) ** 2).mean()
        if step % max(1, options.steps // 4) == 0:
            print(f"step {step:3}: error {error.item():.6f}")
        (slope,) = torch.autograd.grad(error, kernel)
        with torch.no_grad():
            kernel -= options.rate * slope
    found = conv2d(image, kernel, padding=1)
    for pair in zip(drawn(image), drawn(found), strict=True):
        print("   ".join(pair).rstrip())
    for row in kernel.tolist()[0][0]:
        print("  ".join(f"{round(v, 2) + 0:6.2f}" for v in row))


if __name__ == "__main__":
    main()
