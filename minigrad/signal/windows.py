"""torch.signal.windows: window functions by name, symmetric by default.

All return `M` numbers; a single number is 1. `sym=False` gives a periodic window. Raises
`ValueError` for M < 0, for a dtype that is not floating, and for a parameter that does not define a
window.

Source: https://docs.pytorch.org/docs/stable/signal.html
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..dtypes import float32, float64
from ..ops.creation import windows
from ..ops.creation.tensor_options import strided
from ..ops.creation.windows import BLACKMAN, bell, cosines, triangle

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
           "general_hamming", "hamming", "hann", "kaiser", "nuttall"]


def window(name: str, M: int, sym: bool, options: Any, values: Any) -> Any:
    """Return a window after checking its size and dtype; see `minigrad/ops/creation/windows.py`."""
    dtype, layout = options.get("dtype"), options.get("layout", strided)
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (None, float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return windows.window(name, M, sym, options, values)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return a triangle.

    >>> bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return window("bartlett", M, sym, options, triangle)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return Blackman's sum of three cosines.

    >>> blackman(3).round(decimals=4)
    tensor([-0.,  1., -0.])
    """
    return window("blackman", M, sym, options, cosines(BLACKMAN))


def cosine(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return half a period of a sine.

    >>> cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    return window("cosine", M, sym, options,
                  lambda k, n: np.sin(math.pi * (k + 0.5) / (n + 1)))


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True,
                **options: Any) -> Any:
    """Return exp(-|k - center| / tau), by default centred on the middle.

    >>> exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return window("exponential", M, sym, options, lambda k, n: np.exp(
        -np.abs(k - (n / 2 if center is None else center)) / tau))


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Any:
    """Return a Gaussian bell with the standard deviation `std`.

    >>> gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return window("gaussian", M, sym, options,
                  lambda k, n: np.exp(-((k - n / 2) / std) ** 2 / 2))


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Any:
    """Return the alternating sum of cosines with the coefficients `a`.

    >>> general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    coefficients = tuple(a)
    if not coefficients:
        raise ValueError("Coefficients cannot be empty")
    return window("general_cosine", M, sym, options, cosines(coefficients))


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Any:
    """Return alpha - (1 - alpha) cos(2 pi k / n).

    >>> general_hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_cosine(M, a=(alpha, 1 - alpha), sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return 0.54 - 0.46 cos(2 pi k / n).

    >>> hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return a raised cosine.

    >>> hann(3)
    tensor([0., 1., 0.])
    """
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Any:
    """Return Kaiser's bell, a Bessel function; `beta` sets its width.

    >>> kaiser(3, beta=0.0)
    tensor([1., 1., 1.])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return window("kaiser", M, sym, options, bell(beta))


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return Nuttall's sum of four cosines.

    >>> nuttall(3)[1]
    tensor(1.)
    """
    return general_cosine(M, a=(0.3635819, 0.4891775, 0.1365995, 0.0106411), sym=sym, **options)
