"""`torch.accelerator`: the device a machine has besides its CPU, here a CUDA GPU if available.

Source: https://docs.pytorch.org/docs/stable/accelerator.html
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import cuda
from .device import device

__all__ = ["current_accelerator", "current_device_idx", "current_device_index", "current_stream",
           "device_count", "device_index", "is_available", "set_device_idx", "set_device_index",
           "synchronize"]


def is_available() -> bool:
    """Return whether there is a GPU. Source: `torch.accelerator.is_available`.

    >>> import minigrad as torch
    >>> torch.accelerator.is_available() == torch.cuda.is_available()
    True
    """
    return cuda.is_available()


def device_count() -> int:
    """Return the number of GPUs. Source: `torch.accelerator.device_count`."""
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> device | None:
    """Return the device type of the accelerator, or `None` without one."""
    return device("cuda") if is_available() else None


def _require() -> None:
    if not is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def current_device_index() -> int:
    """Return the number of the current GPU; raise `RuntimeError` without one."""
    _require()
    return int(cuda.current_device())


current_device_idx = current_device_index


def set_device_index(device: Any) -> None:
    """Make a GPU the current one; raise `RuntimeError` without one."""
    _require()
    cuda.set_device(device)


set_device_idx = set_device_index


def current_stream(device: Any = None) -> Any:
    """Return the current stream of a GPU; raise `RuntimeError` without one."""
    _require()
    return cuda.current_stream(device)


def synchronize(device: Any = None) -> None:
    """Wait until a GPU has finished its work; raise `RuntimeError` without one."""
    _require()
    cuda.synchronize(device)


@contextmanager
def device_index(device: int | None) -> Iterator[None]:
    """Make a GPU the current one in a `with` block; a no-op for `None`."""
    if device is None:
        yield
        return
    before = current_device_index()
    set_device_index(device)
    try:
        yield
    finally:
        set_device_index(before)
