"""Window functions for signals: sums of cosines, a triangle, and bell curves.

Source: https://docs.pytorch.org/docs/stable/signal.html
"""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np

from ...backend import special_bessel
from ...dtypes import c_name, get_default_dtype
from ...op.publish import function
from .tensor_options import Options, create, wanted_dtype

#: The coefficients of the Blackman window.
BLACKMAN = (0.42, 0.5, 0.08)


def window(name: str, count: Any, sym: bool, options: Options, values: Any) -> Any:
    """Make a window of `count` values: `values(k, n)` for k = 0, 1, 2, ...

    A periodic window (`sym` is False) is a symmetric one with one more value, without the last.
    """
    def build(xp: Any, numpy_dtype: Any) -> Any:
        if count <= 1:
            return xp.ones(count, numpy_dtype)
        made = values(np.arange(count, dtype=np.float64), count if not sym else count - 1)
        return xp.from_host(made.astype(numpy_dtype))

    return create(name, options, build)


def cosines(coefficients: Any) -> Any:
    """Return the function for a window that is an alternating sum of cosines."""
    return lambda k, n: sum((-1) ** i * a * np.cos(2 * math.pi * i * k / n)
                            for i, a in enumerate(coefficients))


def old_window(name: str, length: Any, periodic: bool, options: Options, values: Any) -> Any:
    """Make one of the windows that are functions of the top-level package."""
    dtype = wanted_dtype(name, options)
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: TensorOptions(dtype="
                           f"{c_name(dtype)}, device={options.get('device') or 'cpu'}, "
                           "layout=Strided (default), requires_grad=false (default), "
                           "pinned_memory=false, memory_format=(nullopt))")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length="
                           f"{length}")
    return window(name, length, not periodic, {**options, "dtype": dtype or get_default_dtype()},
                  values)


@function(method_too=False)
def hann_window(window_length, periodic=True, **options: Unpack[Options]):
    """Create a Hann window, a raised cosine: sin(pi k / n)**2.  Source: `torch.hann_window`.

    >>> from minigrad import hann_window
    >>> hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return old_window("hann_window", window_length, periodic, options, cosines((0.5, 0.5)))


@function(method_too=False)
def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **options: Unpack[Options]):
    """Create a Hamming window: alpha - beta cos(2 pi k / n).  Source: `torch.hamming_window`.

    >>> from minigrad import hamming_window
    >>> hamming_window(2)
    tensor([0.0800, 1.0000])
    """
    return old_window("hamming_window", window_length, periodic, options, cosines((alpha, beta)))


@function(method_too=False)
def blackman_window(window_length, periodic=True, **options: Unpack[Options]):
    """Create a Blackman window, a sum of three cosines.  Source: `torch.blackman_window`.

    >>> from minigrad import blackman_window
    >>> blackman_window(4)[2]
    tensor(1.)
    """
    return old_window("blackman_window", window_length, periodic, options, cosines(BLACKMAN))


@function(method_too=False)
def bartlett_window(window_length, periodic=True, **options: Unpack[Options]):
    """Create a triangle from 0 to 1 and back to 0.  Source: `torch.bartlett_window`.

    >>> from minigrad import bartlett_window
    >>> bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return old_window("bartlett_window", window_length, periodic, options, triangle)


@function(method_too=False)
def kaiser_window(window_length, periodic=True, beta=12.0, **options: Unpack[Options]):
    """Create a Kaiser window; a larger `beta` is narrower.  Source: `torch.kaiser_window`.

    >>> from minigrad import kaiser_window
    >>> kaiser_window(4)[2]
    tensor(1.)
    """
    return old_window("kaiser_window", window_length, periodic, options, bell(beta))


def triangle(k: Any, n: int) -> Any:
    """Return the values of a triangular window."""
    return 1 - np.abs(2 * k / n - 1)


def bell(beta: float) -> Any:
    """Return the function for a Kaiser window."""
    return lambda k, n: special_bessel.i0(beta * np.sqrt(np.clip(
        1 - (2 * k / n - 1) ** 2, 0, None))) / special_bessel.i0(np.float64(beta))
