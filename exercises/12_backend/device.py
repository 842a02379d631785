# Stage 12, Arrays on a GPU: the backend protocol: the exercise for minigrad/device.py.
# Made by `minigrad dev build`. The lesson is lessons/12_backend.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 12
# docs/en/glossary.md explains the names used inside the package.

"""Devices hold the memory of tensors.

Source: https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

from . import _state
from .backend import DEVICES, Backend, backend_of, load_cuda


class device:
    """A device type and, for a GPU, its number.

    >>> device("cpu"), device("cuda:1").index
    (device(type='cpu'), 1)
    """

    __slots__ = ("index", "type")

    def __init__(self, type: Any, index: int | None = None) -> None:
        given: Any = type
        if isinstance(given, device):
            given, index = given.type, given.index
        elif not isinstance(given, str):
            raise TypeError("device(): argument 'type' must be str, not "
                            f"{given.__class__.__name__}")
        elif ":" in given:
            given, _, number = given.partition(":")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{given}:{number}'")
            index = int(number)
        if given not in ("cpu", "cuda", *DEVICES):
            raise RuntimeError(
                f"Expected one of {', '.join(sorted({'cpu', 'cuda', *DEVICES}))} device type at "
                f"start of device string: {given}"
            )
        if not (index is None or isinstance(index, int)):
            raise TypeError("device(): argument 'index' must be int, not "
                            f"{index.__class__.__name__}")
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        self.type: str = given
        self.index = index

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, device):
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self) -> Self:
        """Create new tensors here until the block ends; see default_device.py."""
        _state.default_devices.set((*_state.default_devices.get(), self))
        return self

    def __exit__(self, *problem: object) -> None:
        _state.default_devices.set(_state.default_devices.get()[:-1])


CPU = device("cpu")


def backend_for(where: device | str | int | None) -> Backend:
    """Return the backend of a device; raise a `RuntimeError` if a package or device is missing."""
    if where is None:
        return DEVICES["cpu"]
    found = DEVICES.get(as_device(where).type)
    if found is None:  # CuPy is imported on first use
        found = load_cuda()
    return found


def as_device(where: device | str | int) -> device:
    """Return the device for an argument `device`; a number means a GPU."""
    if isinstance(where, int) and not isinstance(where, bool):
        return device("cuda", where)
    return where if isinstance(where, device) else device(where)


def device_of(array: Any) -> device:
    """Return the device that holds an array."""
    # 12.3 Building on the right device (about 9 lines)
    # `device_of` returns the device that holds an array. `build_on` makes the device
    # `where` the current one and returns `build(xp)`; `xp` is the backend of that device.
    #   device_of(np.zeros(2))                    -> CPU, the constant
    #   device_of(array), on number 1 of a "gpu"  -> device("gpu", 1)
    #   build_on("gpu:1", build)                  -> build(xp), inside `with xp.on(1)`
    #   build_on("gpu:0", build)                  -> build(xp), inside `with xp.on(0)`
    #   build_on(None, build), "gpu", "cpu:0"     -> build(xp), without calling `on`
    # Use: `backend_of(array)` with its `device_type` ("cpu" for the CPU) and
    # `device_index(array)`; `backend_for(where)`; `as_device(where).index`, which is None
    # without a number.
    raise NotImplementedError("12.3 Building on the right device is yours to write")


def build_on(where: device | str | int | None, build: Callable[[Any], Any]) -> Any:
    """Return `build(xp)` while `where` is the current device."""
    # 12.3 Building on the right device: see the task at `device_of`.
    raise NotImplementedError("12.3 Building on the right device is yours to write")


#: The context for work in the default place.
NO_PLACE: AbstractContextManager[Any] = nullcontext()


def place_on(array: Any) -> AbstractContextManager[Any]:
    """Return a context that enters an array's place for work on it, unless it is the default."""
    backend = backend_of(array)
    place = None if backend.device_type == "cpu" else backend.place_of([array])
    return NO_PLACE if place is None else place.entered()


def device_under(array: Any) -> device:
    """Return the device of an array; for a batch, the device of the array inside."""
    while backend_of(array).run_op is not None:
        array = array.inner
    return device_of(array)


def beside(array: Any, host: Any) -> Any:
    """Copy a NumPy array to the device of another array.

    >>> import numpy as np
    >>> beside(np.zeros(1), np.arange(2))
    array([0, 1])
    """
    return build_on(device_under(array), lambda xp: xp.from_host(host))
