"""Whether Apple's GPUs are usable with Metal: programs check this before they pick a device.

Source: https://docs.pytorch.org/docs/stable/backends.html#torch-backends-mps
"""

from __future__ import annotations

from ..backend import DEVICES

__all__ = ["is_available", "is_built"]


def is_built() -> bool:
    """Return whether a backend for the device "mps" is registered; minigrad doesn't include one.

    >>> is_built()
    False
    """
    return "mps" in DEVICES


def is_available() -> bool:
    """Return whether tensors can be on the device "mps".

    >>> is_available()
    False
    """
    return is_built()  # a backend registers only if it found its device
