"""Devices: where the memory of a tensor is.

Source: https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any, Self

from .backend import DEVICES, Backend, backend_of, load_cuda


class device:
    """A device type and, for a GPU, its number.

    >>> device("cpu"), device("cuda:1").index
    (device(type='cpu'), 1)
    """

    __slots__ = ("index", "type")

    def __init__(self, type: Any, index: int | None = None) -> None:
        kind: Any = type
        if isinstance(kind, device):
            kind, index = kind.type, kind.index
        elif not isinstance(kind, str):
            raise TypeError(f"device(): argument 'type' must be str, not {kind.__class__.__name__}")
        elif ":" in kind:
            kind, _, number = kind.partition(":")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{kind}:{number}'")
            index = int(number)
        if kind not in ("cpu", "cuda", *DEVICES):
            raise RuntimeError(
                f"Expected one of {', '.join(sorted({'cpu', 'cuda', *DEVICES}))} device type at "
                f"start of device string: {kind}"
            )
        if not (index is None or isinstance(index, int)):
            raise TypeError("device(): argument 'index' must be int, not "
                            f"{index.__class__.__name__}")
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        self.type: str = kind
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
        return device, (self.type, self.index)

    def __enter__(self) -> Self:
        """Make new tensors on this device, on this thread, until the block ends.

        >>> from minigrad import ones
        >>> with device("cpu"):
        ...     ones(1).device
        device(type='cpu')
        """
        _defaults.set((*_defaults.get(), self))
        return self

    def __exit__(self, *problem: object) -> None:
        _defaults.set(_defaults.get()[:-1])


CPU = device("cpu")

#: The devices of new tensors that no argument sends elsewhere, the last one in force: first what
#: `set_default_device` was told (None for the CPU), then those of the blocks that were entered.
_defaults: ContextVar[tuple[device | None, ...]] = ContextVar("default_devices", default=(None,))


def set_default_device(device: device | str | int | None) -> None:
    """Make new tensors on a device, on this thread; None means the CPU again.

    It counts for functions that make tensors from sizes, numbers or other data, not for
    `from_numpy` and `*_like`. An argument `device` and a block `with device(...)` go before it.
    `RuntimeError` for a name that is no device. Source: `torch.set_default_device`.

    >>> from minigrad import get_default_device, set_default_device
    >>> set_default_device("cpu")
    >>> get_default_device()
    device(type='cpu')
    >>> set_default_device(None)
    """
    _defaults.set((None if device is None else as_device(device), *_defaults.get()[1:]))


def get_default_device() -> device:
    """Return the device on which this thread makes new tensors. Source: `torch.get_default_device`.

    >>> from minigrad import device, get_default_device
    >>> get_default_device() == device("cpu")
    True
    """
    where = default_device()
    if where is None or where.type == "cpu" or where.index is not None:
        return where or CPU
    return device_of(build_on(where, lambda xp: xp.zeros(0)))


def default_device() -> device | None:
    """Return the device that was set for new tensors; None where none was."""
    return _defaults.get()[-1]


def backend_for(where: device | str | int | None) -> Backend:
    """Return the backend of a device; a `RuntimeError` says what is missing when there is none."""
    if where is None:
        return DEVICES["cpu"]
    kind = as_device(where).type
    found = DEVICES.get(kind)
    if found is None:  # CuPy is imported when it is first needed
        found = load_cuda()
    return found


def as_device(where: device | str | int) -> device:
    """Return the device that an argument `device` means; a number means a GPU."""
    if isinstance(where, int) and not isinstance(where, bool):
        return device("cuda", where)
    return where if isinstance(where, device) else device(where)


def device_of(array: Any) -> device:
    """Return the device that an array lies on."""
    backend = backend_of(array)
    kind = backend.device_type
    return CPU if kind == "cpu" else device(kind, backend.device_index(array))


def build_on(where: device | str | int | None, build: Callable[[Any], Any]) -> Any:
    """Return `build(xp)`; new arrays are made on the device `where`."""
    xp = backend_for(where)
    index = None if where is None or xp.device_type == "cpu" else as_device(where).index
    if index is None:
        return build(xp)
    with xp.on(index):
        return build(xp)


#: The context for work where the array's place is the default one.
NO_PLACE: AbstractContextManager[Any] = nullcontext()


def place_on(array: Any) -> AbstractContextManager[Any]:
    """Return a context for work on an array: where that lies, if it is not the default place."""
    backend = backend_of(array)
    place = None if backend.device_type == "cpu" else backend.place_of([array])
    return NO_PLACE if place is None else place.entered()


def device_under(array: Any) -> device:
    """Return the device of an array; for a batch, that of the array in it."""
    while backend_of(array).run_op is not None:
        array = array.inner
    return device_of(array)


def beside(array: Any, host: Any) -> Any:
    """Return a NumPy array on the device of an array.

    >>> import numpy as np
    >>> beside(np.zeros(1), np.arange(2))
    array([0, 1])
    """
    return build_on(device_under(array), lambda xp: xp.from_host(host))
