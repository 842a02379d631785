"""NumPy arrays for tests: normal random numbers, and the values of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Return standard normal numbers, the same ones for the same seed."""
    return np.random.default_rng(seed).normal(size=shape)


def host(tensor: Any) -> np.ndarray:
    """Return the values of a CPU tensor, of minigrad's or PyTorch's, without its history."""
    return tensor.detach().numpy()
