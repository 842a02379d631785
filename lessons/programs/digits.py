"""Train a residual network on handwritten digits, on minigrad or on PyTorch: the same program.

    minigrad python --mine 01-13 lessons/programs/digits.py      on your own engine
    python lessons/programs/digits.py --engine torch             on PyTorch

Weights and batches come from NumPy with a fixed seed, so both engines compute the same numbers.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any

import numpy as np

BATCH = 32
LEARNING_RATE = 3e-3


def images_and_digits() -> tuple[Any, Any, Any, Any]:
    """Return images (n, 1, 8, 8) and digits to train on, then 450 of each that are held out."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images = (data.images / 16).astype("float32")[order, None]
    digits = data.target.astype("int64")[order]
    return images[450:], digits[450:], images[:450], digits[:450]


def network(torch: Any) -> Any:
    """Return a network of three residual blocks, with the same weights on every engine."""
    nn = torch.nn

    class Block(nn.Module):
        """Two convolutions, whose result is added to what came in."""

        def __init__(self, inside: int, outside: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(outside)
            self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(outside)
            self.shortcut = nn.Identity()
            if stride != 1 or inside != outside:
                self.shortcut = nn.Conv2d(inside, outside, 1, stride=stride, bias=False)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.bn1(self.conv1(x)))
            return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))

    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        Block(16, 16, 1), Block(16, 32, 2), Block(32, 32, 1),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    )
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.dim() > 1:
                spread = (2 / np.prod(parameter.shape[1:])) ** 0.5
                values = rng.normal(0.0, spread, tuple(parameter.shape)).astype("float32")
                parameter.copy_(torch.from_numpy(values))
        net[-1].bias.zero_()
    return net


def train(torch: Any, net: Any, images: Any, digits: Any, epochs: int) -> Iterator[float]:
    """Train with Adam and a falling step size; give the loss of each step."""
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)
    rng = np.random.default_rng(2)
    net.train()
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * (1 - epoch / epochs)
        order = rng.permutation(len(digits))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            scores = net(torch.from_numpy(images[batch]))
            loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(digits[batch]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss.item()


def correct(torch: Any, net: Any, images: Any, digits: Any) -> int:
    """Return how many images the network gets right."""
    net.eval()
    with torch.no_grad():
        found = net(torch.from_numpy(images)).argmax(1)
    return int((found.numpy() == digits).sum())


def main() -> None:
    """Train, tell how it goes, and what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", default="minigrad", choices=["minigrad", "torch"])
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    torch = importlib.import_module(options.engine)
    images, digits, held_images, held_digits = images_and_digits()
    net, begun, worked = network(torch), perf_counter(), process_time()
    steps = -(-len(digits) // BATCH)
    losses: list[float] = []
    for loss in train(torch, net, images, digits, options.epochs):
        losses.append(loss)
        if len(losses) % steps == 0:
            print(f"epoch {len(losses) // steps}: mean loss {np.mean(losses[-steps:]):.4f}",
                  flush=True)
    took, worked = perf_counter() - begun, process_time() - worked
    right = correct(torch, net, held_images, held_digits)
    print(f"first losses: {' '.join(f'{loss:.4f}' for loss in losses[:5])}")
    print(f"{right} of {len(held_digits)} held-out digits right, {right / len(held_digits):.1%}, "
          f"after {took:.0f} s ({worked:.0f} s of processor time) on {options.engine}")


if __name__ == "__main__":
    main()
