"""Streams (queues of work that run concurrently on a GPU) and events (marks in streams).

Source: https://docs.pytorch.org/docs/stable/generated/torch.cuda.Stream.html
"""

from __future__ import annotations

from typing import Any

from ..device import device as Device
from .devices import Where, backend, device, index_of


class Stream:
    """A queue of work on a GPU; its work runs in order, concurrently with other streams.

    If a tensor was created in one stream, another stream must first wait for it (`wait_stream`)
    before using the tensor, and the tensor must stay alive until then.

    >>> from minigrad import cuda, ones
    >>> side = cuda.Stream() if cuda.is_available() else None
    >>> x = ones(1000, device="cuda" if side else "cpu")
    >>> if side: side.wait_stream(cuda.current_stream())  # x has to be there
    >>> with cuda.stream(side):
    ...     y = x * 2
    >>> if side: done = side.record_event(); cuda.current_stream().wait_event(done)
    >>> y.sum().item()
    2000.0
    >>> if side: side.synchronize(); assert side.query() and side.cuda_stream
    >>> side.device.type if side else "cuda"
    'cuda'
    """

    def __init__(self, device: Where = None, priority: int = 0, **kwargs: Any) -> None:
        self.device_index = index_of(device)
        self.priority = priority
        with backend().on(self.device_index):
            self.stream = kwargs.pop("_stream", None) or backend().cuda.Stream(
                non_blocking=True, priority=priority)
        if kwargs:
            raise TypeError(f"Stream() got an unexpected keyword argument '{next(iter(kwargs))}'")

    @property
    def device(self) -> Device:
        """The GPU it belongs to."""
        return Device("cuda", self.device_index)

    @property
    def cuda_stream(self) -> int:
        """The driver's handle; 0 for the default stream."""
        return int(self.stream.ptr)

    def synchronize(self) -> None:
        """Wait until all its work has finished."""
        with self._there():
            self.stream.synchronize()

    def query(self) -> bool:
        """Return whether all its work has finished."""
        with self._there():
            return bool(self.stream.done)

    def _there(self) -> Any:
        """Enter the stream's GPU, because the default streams of all GPUs have the same handle."""
        return backend().on(self.device_index)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event in the stream."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Make work queued from now on wait for an event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Make work queued from now on wait for the present work of another stream."""
        self.wait_event(stream.record_event())

    def __enter__(self) -> Stream:
        self._contexts = [*getattr(self, "_contexts", []), StreamContext(self)]
        self._contexts[-1].__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._contexts.pop().__exit__(*exc)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.cuda_stream, self.device_index) == (other.cuda_stream, other.device_index)

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device_index))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """A mark in a stream, to wait for it or to measure the time between two marks.

    >>> from minigrad import cuda, ones
    >>> begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True); begin
    <torch.cuda.Event uninitialized>
    >>> begin.query()  # nothing has been recorded that it could wait for
    True
    >>> if cuda.is_available(): begin.record(); y = ones(1000, device="cuda") * 2; end.record()
    >>> end.wait() if cuda.is_available() else None
    >>> end.synchronize(); begin.elapsed_time(end) >= 0 if cuda.is_available() else True
    True
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False,
                 interprocess: bool = False) -> None:
        self._options = {"block": blocking, "disable_timing": not enable_timing,
                         "interprocess": interprocess}
        self.enable_timing = enable_timing
        self.event: Any = None  # created by the first record, on the stream's device
        self.device_index = -1

    def record(self, stream: Stream | None = None) -> None:
        """Record the event in a stream, by default the current one."""
        chosen = current_stream() if stream is None else stream
        with chosen._there():
            if self.event is None or self.device_index != chosen.device_index:
                self.event = backend().cuda.Event(**self._options)
                self.device_index = chosen.device_index
            self.event.record(chosen.stream)

    def wait(self, stream: Stream | None = None) -> None:
        """Make later work of a stream, by default the current one, wait for this event."""
        if self.event is not None:
            chosen = current_stream() if stream is None else stream
            with chosen._there():
                chosen.stream.wait_event(self.event)

    def query(self) -> bool:
        """Return whether all work before it has finished."""
        return self.event is None or bool(self.event.done)

    def synchronize(self) -> None:
        """Wait until all work before it has finished."""
        if self.event is not None:
            self.event.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to another one.

        Raises `ValueError` unless both were created with `enable_timing=True` and recorded.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.event is None or end_event.event is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(backend().cuda.get_elapsed_time(self.event, end_event.event))

    def __repr__(self) -> str:
        if self.event is None:
            return "<torch.cuda.Event uninitialized>"
        return f"<torch.cuda.Event device=cuda:{self.device_index}>"


class StreamContext:
    """Make a stream and its device the current ones in a `with` block.

    >>> from minigrad import cuda
    >>> side = cuda.Stream() if cuda.is_available() else None
    >>> with cuda.StreamContext(side):
    ...     inside = cuda.current_stream() if side else None
    >>> inside == side
    True
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: list[tuple[device, Any]] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            place = device(self.stream.device_index)
            place.__enter__()
            self._before.append((place, backend().cuda.get_current_stream()))
            self.stream.stream.use()

    def __exit__(self, *exc: object) -> None:
        if self.stream is not None:
            place, before = self._before.pop()
            before.use()
            place.__exit__(*exc)


def stream(stream: Stream | None) -> StreamContext:
    """Return a context that makes `stream` the current one; a no-op for `None`.

    >>> from minigrad import cuda, ones
    >>> side = cuda.Stream() if cuda.is_available() else None
    >>> with cuda.stream(side):
    ...     y = ones(2) * 3
    >>> y
    tensor([3., 3.])
    """
    return StreamContext(stream)


def current_stream(device: Where = None) -> Stream:
    """Return the current stream of a GPU.

    >>> from minigrad import cuda
    >>> if cuda.is_available():
    ...     side = cuda.Stream()
    ...     with cuda.stream(side):
    ...         assert cuda.current_stream() == side != cuda.default_stream()
    """
    index = index_of(device)
    return Stream(index, _stream=backend().cuda.get_current_stream(index))


def default_stream(device: Where = None) -> Stream:
    """Return the default stream of a GPU.

    >>> from minigrad import cuda
    >>> cuda.default_stream().cuda_stream if cuda.is_available() else 0
    0
    """
    return Stream(index_of(device), _stream=backend().cuda.Stream(null=True))


def synchronize(device: Where = None) -> None:
    """Wait until all work of a GPU has finished.

    >>> from minigrad import cuda
    >>> for index in range(cuda.device_count()):
    ...     cuda.synchronize(index)
    """
    backend().synchronize(index_of(device))
