"""Photographs to measure on: the two that ship with scikit-learn, a temple and a flower.

Source: https://scikit-learn.org/stable/datasets/loading_other_datasets.html#sample-images
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import minigrad as torch
from minigrad import Tensor

#: The mean and the standard deviation of ImageNet's images, per channel from 0 to 1.
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
SPREAD = np.array([0.229, 0.224, 0.225], np.float32)


class Photographs(NamedTuple):
    """Images (count, 3, size, size) normalized for photograph networks, and a description."""

    images: Tensor
    about: str


def load(count: int, size: int) -> Photographs:
    """Return pieces of the photographs, or seeded random numbers if they cannot be loaded."""
    try:
        from sklearn.datasets import load_sample_images

        pictures = load_sample_images().images
    except ImportError as error:
        missing = "scikit-learn" if (error.name or "").startswith("sklearn") else "pillow"
        torch.manual_seed(0)
        return Photographs(torch.randn(count, 3, size, size),
                           f"random numbers, because {missing} is not installed "
                           "(pip install -e '.[tour]')")
    squares = [piece(pictures[i % len(pictures)], size, i // len(pictures)) for i in range(count)]
    images = torch.from_numpy(np.ascontiguousarray(np.stack(squares)))
    pieces_of = "a piece" if count == 1 else f"{count} pieces"
    return Photographs(images, f"{pieces_of} of scikit-learn's photographs, {size} × {size}")


def piece(picture: Any, size: int, number: int) -> Any:
    """Return a square piece of a picture (H, W, 3) as (3, size, size), a different one per number.

    It takes every `step`-th pixel, to show as much of the picture as fits.
    """
    height, width, _ = picture.shape
    step = min(height, width) // size
    if step == 0:
        raise ValueError(f"the photographs are {height} × {width}, so size must be at most "
                         f"{min(height, width)}, not {size}")
    down, right = height - step * size, width - step * size
    top, left = (down // 2 + 37 * number) % (down + 1), (right // 2 + 61 * number) % (right + 1)
    square = picture[top : top + step * size : step, left : left + step * size : step]
    return (((square / np.float32(255)) - MEAN) / SPREAD).astype(np.float32).transpose(2, 0, 1)
