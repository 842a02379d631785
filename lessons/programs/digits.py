"""Train a residual network on handwritten digits, on minigrad or on PyTorch: the same program.

    minigrad python digits.py                                    on your own engine
    minigrad python digits.py --network network.py               with a network of your own
    python lessons/programs/digits.py --engine torch             on PyTorch

Weights and batches come from NumPy with a fixed seed, so both engines compute the same numbers.
The weights of a network of your own come from `torch.manual_seed(0)`.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any

import numpy as np

from minigrad_course.capstone.measured import Operations, write_result

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


def loaded() -> tuple[Any, Any, Any, Any]:
    """Return the images and digits, or end the program with what is missing."""
    try:
        return images_and_digits()
    except ModuleNotFoundError:
        raise SystemExit("the digits come with scikit-learn, which is not installed: "
                         "pip install scikit-learn") from None


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


def train(torch: Any, net: Any, images: Any, digits: Any, epochs: int,
          rate: float = LEARNING_RATE) -> Iterator[float]:
    """Train with Adam and a falling step size; give the loss of each step."""
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    rng = np.random.default_rng(2)
    net.train()
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - epoch / epochs)
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


def own_network(torch: Any, file: str) -> tuple[Any, int, float]:
    """Return the network that a file makes, with its `EPOCHS` and its `LEARNING_RATE`."""
    found = runpy.run_path(file)
    if not callable(found.get("network")):
        raise SystemExit(f"{file} has no function `network(torch)`")
    torch.manual_seed(0)
    net = found["network"](torch)
    with torch.no_grad():
        shape = tuple(net.eval()(torch.ones(2, 1, 8, 8)).shape)
    if shape != (2, 10):
        raise SystemExit(f"{file}: for two images of 8 x 8 the network is to give scores of shape "
                         f"(2, 10), and not {shape}")
    epochs, rate = found.get("EPOCHS", 6), found.get("LEARNING_RATE", LEARNING_RATE)
    if not isinstance(epochs, int) or epochs < 1 or not isinstance(rate, int | float):
        raise SystemExit(f"{file}: EPOCHS is a whole number from 1 on, LEARNING_RATE a number")
    torch.manual_seed(0)  # dropout draws the same, whatever was drawn for the weights
    return net, epochs, rate


def main() -> None:
    """Train, tell how it goes, and what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", default="minigrad", choices=["minigrad", "torch"])
    parser.add_argument("--epochs", type=int, help="6, or EPOCHS of the network's file")
    parser.add_argument("--network", metavar="FILE",
                        help="a file with a function `network(torch)`")
    parser.add_argument("--result", metavar="FILE", help="where to write the figures, as JSON")
    options = parser.parse_args()
    torch = importlib.import_module(options.engine)
    images, digits, held_images, held_digits = loaded()
    net, epochs, rate = ((network(torch), 6, LEARNING_RATE) if options.network is None
                         else own_network(torch, options.network))
    epochs = options.epochs or epochs
    begun, worked = perf_counter(), process_time()
    steps = -(-len(digits) // BATCH)
    losses: list[float] = []
    operations = Operations()
    for loss in operations.of_first(train(torch, net, images, digits, epochs, rate)):
        losses.append(loss)
        if len(losses) % steps == 0:
            print(f"epoch {len(losses) // steps}: mean loss {np.mean(losses[-steps:]):.4f}",
                  flush=True)
    took, worked = perf_counter() - begun, process_time() - worked
    right = correct(torch, net, held_images, held_digits)
    print(f"first losses: {' '.join(f'{loss:.4f}' for loss in losses[:5])}")
    print(f"{right} of {len(held_digits)} held-out digits right, {right / len(held_digits):.1%}, "
          f"after {took:.0f} s ({worked:.0f} s of processor time) on {options.engine}")
    if options.result:
        weights = sum(each.numel() for each in net.parameters())
        write_result(options.result, operations, right=right, of=len(held_digits), weights=weights)


if __name__ == "__main__":
    main()
