"""Train on scikit-learn's handwritten digits: 1797 images of 8 × 8 pixels.

The images ship with scikit-learn, so no download is needed.
Source: https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.nn.models import SmallResNet

BATCH = 32
LEARNING_RATE = 3e-3


class Digits(NamedTuple):
    """Images (n, 1, 8, 8) with values from 0 to 1 and their digits, for training and held out."""

    train_images: Tensor
    train_digits: Tensor
    test_images: Tensor
    test_digits: Tensor


def load(seed: int) -> Digits:
    """Return the digits, with a quarter of each class held out in a split seeded by `seed`."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    data = load_digits()
    images = (data.images / 16).astype("float32")[:, None]
    train_images, test_images, train_digits, test_digits = train_test_split(
        images, data.target, test_size=0.25, stratify=data.target, random_state=seed
    )
    arrays = (train_images, train_digits, test_images, test_digits)
    return Digits(*(torch.from_numpy(array) for array in arrays))


def network() -> SmallResNet:
    """Return a residual network from images (n, 1, 8, 8) to scores (n, 10), with dropout."""
    net = SmallResNet(num_classes=10, width=16)
    net.head = nn.Sequential(
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32, 10)
    )
    return net


def train_step(net: nn.Module, optimizer: Any, images: Tensor, digits: Tensor) -> float:
    """Take one training step on the cross entropy; return the loss before it."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images), digits)
    loss.backward()
    optimizer.step()
    return float(loss.item())


def train(net: nn.Module, digits: Digits, epochs: int) -> Iterator[tuple[int, float]]:
    """Train `net` with Adam and a decaying learning rate; yield epoch and loss after each step."""
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)
    net.train()
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * (1 - epoch / epochs)
        for batch in torch.randperm(len(digits.train_images)).split(BATCH):
            images, wanted = digits.train_images[batch], digits.train_digits[batch]
            yield epoch, train_step(net, optimizer, images, wanted)


def steps_per_epoch(digits: Digits) -> int:
    """Return the number of batches in an epoch."""
    return -(-len(digits.train_images) // BATCH)


def correct(net: nn.Module, images: Tensor, digits: Tensor) -> int:
    """Return how many images the network classifies correctly, in its current mode."""
    with torch.no_grad():
        return int((net(images).argmax(1) == digits).sum().item())


def drawn(image: Tensor) -> list[str]:
    """Return an 8 × 8 image as eight lines of text."""
    return ["".join(" ░▒▓█"[round(4 * v)] * 2 for v in row) for row in image.tolist()]
