"""Places to work: a device and a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import cupy

Array = Any


class Place:
    """A device and a stream to work on."""

    __slots__ = ("index", "stream")

    def __init__(self, index: int, stream: Any) -> None:
        self.index, self.stream = index, stream

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Make device and stream the current ones.

        Work inside starts after the work already queued in the surrounding stream, and later work
        outside starts after it, because the streams wait for each other at both ends, as in
        PyTorch's backward.  If the device is another one, its own current stream is treated like
        the surrounding one.
        """
        device, outside = cupy.cuda.Device(), cupy.cuda.get_current_stream()
        if outside.ptr == self.stream.ptr and device.id == self.index:
            yield
            return
        arrived = recorded(outside, device.id)
        cupy.cuda.Device(self.index).use()
        inside = cupy.cuda.get_current_stream()
        self.stream.use()
        self.stream.wait_event(arrived)
        apart = device.id != self.index and inside.ptr != self.stream.ptr
        if apart:
            self.stream.wait_event(recorded(inside, self.index))
        try:
            yield
        finally:
            done = recorded(self.stream, self.index)
            inside.use()
            if apart:
                inside.wait_event(done)
            device.use()
            outside.wait_event(done)


def recorded(stream: Any, index: int) -> Any:
    """Return an event recorded in a stream of a device."""
    with cupy.cuda.Device(index):
        event = cupy.cuda.Event(disable_timing=True)
        event.record(stream)
    return event


def default_place() -> Place:
    """Return the current device and stream."""
    return Place(cupy.cuda.Device().id, cupy.cuda.get_current_stream())


def capturing() -> bool:
    """Return whether work queued now is captured into a graph."""
    stream = cupy.cuda.get_current_stream()
    return bool(stream.ptr and stream.is_capturing())


def place_of(arrays: Sequence[Any]) -> Place | None:
    """Return the place to work on arrays, or `None` for device 0 and its default stream.

    Raises PyTorch's `RuntimeError` if the arrays are on several devices.
    """
    index = None
    for array in arrays:
        for item in array if type(array) in (list, tuple) else (array,):
            if type(item) is cupy.ndarray:
                if index is None:
                    index = item.data.device_id
                elif index != item.data.device_id:
                    raise RuntimeError(
                        "Expected all tensors to be on the same device, but found at least two "
                        f"devices, cuda:{index} and cuda:{item.data.device_id}!")
    if index is None:
        return None
    stream = cupy.cuda.get_current_stream(index)
    if index or stream.ptr or cupy.cuda.Device().id:
        return Place(index, stream)
    return None
