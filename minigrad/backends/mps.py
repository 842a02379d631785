"""Whether Apple's GPUs can be used, by Metal's shaders: programs ask before they pick a device.

Source: https://docs.pytorch.org/docs/stable/backends.html#torch-backends-mps
"""

from __future__ import annotations

from ..backend import DEVICES

__all__ = ["is_available", "is_built"]


def is_built() -> bool:
    """Tell whether a backend for the device "mps" is registered; minigrad comes without one.

    >>> is_built()
    False
    """
    return "mps" in DEVICES


def is_available() -> bool:
    """Tell whether tensors can be on the device "mps".

    >>> is_available()
    False
    """
    return is_built()  # a backend is registered only where it has found its device
