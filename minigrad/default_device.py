"""The device of new tensors that no argument sends elsewhere.

`set_default_device` says which, for a thread; a block `with device(...)` goes before it. It counts
for functions that make tensors of sizes, numbers or other data, not for `from_numpy` and `*_like`.

Source: https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html
"""

from __future__ import annotations

from ._state import default_devices
from .device import CPU, as_device, build_on, device, device_of

__all__ = ["get_default_device", "set_default_device"]


def set_default_device(device: device | str | int | None) -> None:
    """Make new tensors on a device, on this thread; None means the CPU again.

    `RuntimeError` for a name that is no device. Source: `torch.set_default_device`.

    >>> from minigrad import get_default_device, set_default_device
    >>> set_default_device("cpu")
    >>> get_default_device()
    device(type='cpu')
    >>> set_default_device(None)
    """
    default_devices.set((None if device is None else as_device(device), *default_devices.get()[1:]))


def get_default_device() -> device:
    """Return the device on which this thread makes new tensors. Source: `torch.get_default_device`.

    >>> from minigrad import device, get_default_device
    >>> with device("cpu"):
    ...     get_default_device()
    device(type='cpu')
    """
    where = default_device()
    if where is None or where.type == "cpu" or where.index is not None:
        return where or CPU
    return device_of(build_on(where, lambda xp: xp.zeros(0)))


def default_device() -> device | None:
    """Return the device that was set for new tensors; None where none was."""
    found: device | None = default_devices.get()[-1]
    return found
