"""Families of everyday work: each draws its cases from a seed, so no case can be tuned to.

A family is a function of a `random.Random`. It returns a case: a title with everything that was
drawn, and `build`, which prepares the step for a library. The same seed draws the same cases
everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from . import arrays, derivatives, layers, programs
from .case import Case, Step

__all__ = ["FAMILIES", "Case", "Family", "Step", "cases_of"]


class Family(NamedTuple):
    """A kind of work, and the limits of its ratio to PyTorch: of the mean and of the worst case."""

    draw: Callable[[random.Random], Case]
    mean: float = 1.1
    worst: float = 1.6


FAMILIES: dict[str, Family] = {
    "single elements": Family(arrays.single_elements, 1.1, 1.2),
    "indexing": Family(arrays.indexing),
    "joining and choosing": Family(arrays.joining),
    "reductions": Family(arrays.reductions),
    "convolution": Family(layers.convolution),
    "depthwise convolution": Family(layers.depthwise_convolution),
    "transposed convolution": Family(layers.transposed_convolution),
    "normalization and pooling": Family(layers.normalization_and_pooling),
    "recurrent networks": Family(layers.recurrent),
    "small networks": Family(layers.small_networks),
    "small matrix products": Family(layers.small_products),
    "losses": Family(layers.losses),
    "gradients of samples": Family(derivatives.gradients_of_samples),
    "convolutions by vmap": Family(derivatives.convolutions_by_vmap),
    "jacobians of samples": Family(derivatives.jacobians_of_samples),
    "tangent kernels": Family(derivatives.tangent_kernels),
    "products with derivatives": Family(derivatives.products_with_derivatives),
    "optimizers": Family(programs.optimizers),
    "data loading": Family(programs.data_loading),
    "random numbers": Family(programs.random_numbers),
    "initial weights": Family(programs.initial_weights),
    "processes": Family(programs.processes, 0.2, 0.3),
}


def cases_of(family: str, seed: int, count: int) -> list[Case]:
    """Return different cases of a family, drawn from a seed."""
    source, found = random.Random(f"{family} {seed}"), dict[str, Case]()
    for _ in range(100):
        if len(found) < count:
            case = FAMILIES[family].draw(source)
            found.setdefault(case.title, case)
    return list(found.values())
