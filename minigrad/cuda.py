"""`minigrad.cuda`: whether there is a GPU, and what can be asked of it.

Without CuPy and a driver `is_available()` is False, and what needs a GPU raises `RuntimeError`.

Source: https://docs.pytorch.org/docs/stable/cuda.html
"""

from __future__ import annotations

from typing import Any

from .device import backend_for, device


def _backend() -> Any:
    """Return the CUDA backend; `RuntimeError` where there is none."""
    return backend_for("cuda")


def is_available() -> bool:
    """Tell whether tensors can be put on a GPU.

    >>> isinstance(is_available(), bool)
    True
    """
    return device_count() > 0


def device_count() -> int:
    """Return the number of GPUs: 0 where CuPy or the driver is missing."""
    try:
        backend = _backend()
    except RuntimeError:
        return 0
    return int(backend.device_count())


def current_device() -> int:
    """Return the number of the GPU that new tensors go to."""
    return int(_backend().current_device())


def get_device_name(device: device | str | int | None = None) -> str:
    """Return the name of a GPU."""
    return str(_backend().device_name(device))


def synchronize(device: device | str | int | None = None) -> None:
    """Wait until all work given to the GPU is done."""
    _backend().synchronize()


def memory_allocated(device: device | str | int | None = None) -> int:
    """Return the bytes that tensors hold on the GPU."""
    return int(_backend().memory_allocated())


def max_memory_allocated(device: device | str | int | None = None) -> int:
    """Return the most bytes that tensors ever held on the GPU."""
    return int(_backend().max_memory_allocated())


def reset_peak_memory_stats(device: device | str | int | None = None) -> None:
    """Count `max_memory_allocated` anew from here."""
    _backend().reset_peak_memory_stats()


def empty_cache() -> None:
    """Give unused memory back to the driver; without a GPU there is none to give back."""
    if is_available():
        _backend().empty_cache()


def manual_seed(seed: int) -> None:
    """Do nothing: random numbers come from the one default generator, on every device."""


manual_seed_all = manual_seed
