"""The default device of new tensors, for calls without a `device` argument.

`set_default_device` sets it for a thread, and a block `with device(...)` overrides it. It applies
to functions that create tensors from sizes, numbers or other data, but not to `from_numpy` and
`*_like`.

Source: https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html
"""

from __future__ import annotations

from ._state import default_devices
from .device import CPU, as_device, build_on, device, device_of

__all__ = ["get_default_device", "set_default_device"]


def set_default_device(device: device | str | int | None) -> None:
    """Create new tensors on a device, on this thread; `None` means the CPU again.

    Raises `RuntimeError` for an invalid device name. Source: `torch.set_default_device`.

    >>> from minigrad import get_default_device, set_default_device
    >>> set_default_device("cpu")
    >>> get_default_device()
    device(type='cpu')
    >>> set_default_device(None)
    """
    default_devices.set((None if device is None else as_device(device), *default_devices.get()[1:]))


def get_default_device() -> device:
    """Return the device for this thread's new tensors. Source: `torch.get_default_device`.

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
    """Return the device that was set for new tensors, or `None`."""
    found: device | None = default_devices.get()[-1]
    return found
