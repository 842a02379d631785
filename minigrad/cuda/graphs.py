"""CUDA graphs: capture work once, then repeat it with a single call to the driver.

NOTE [What can be captured]
    A capture queues work without running it, so it must not read values: no `.item()`, no `print`,
    no mask as an index, no copy to or from the host.  Ops do not check their indices while
    capturing. Sizes, Python numbers and memory stay as they were in the capture: tensors created
    inside live in a pool that belongs to the graph, and each launch overwrites them.  To compute on
    new data, copy it into tensors that the captured function reads.  The graph keeps the function
    and everything it refers to alive.

Source: https://docs.pytorch.org/docs/stable/generated/torch.cuda.CUDAGraph.html
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ClassVar

from .devices import Where, backend
from .streams import Stream, current_stream, stream


class GraphMemory:
    """A memory pool for one graph, or for several that share it.

    CuPy drops a pool without references, but does not free its unused memory.  We free it when the
    last graph is gone, because a graph writes to memory that CuPy considers free.  If tensors still
    use some of the memory, it is freed when a later graph is dropped, or by `empty_cache`.
    """

    _waiting: ClassVar[list[Any]] = []

    def __init__(self) -> None:
        cuda = backend().cuda
        self.pool, self.device = cuda.MemoryPool(), cuda.Device()

    def __del__(self) -> None:
        self._waiting.append((self.pool, self.device))
        self.give_back()

    @classmethod
    def give_back(cls) -> None:
        """Free the memory of past graphs that no tensor uses."""
        for pool, device in cls._waiting[:]:
            with device:
                pool.free_all_blocks()
                if not pool.used_bytes():
                    cls._waiting.remove((pool, device))


class CUDAGraph:
    """Captured work; `replay()` launches it in the current stream.

    >>> from minigrad import cuda, ones
    >>> captured, x = cuda.CUDAGraph(), ones(2, device="cuda" if cuda.is_available() else "cpu")
    >>> if cuda.is_available():
    ...     with cuda.graph(captured):
    ...         y = x * 3
    ...     _ = x.fill_(2); captured.replay()  # computes y again, of what is in x now
    ...     assert y.tolist() == [6.0, 6.0]
    >>> captured.reset()
    """

    def __init__(self) -> None:
        self.memory: GraphMemory | None = None
        self.work: Any = None  # the captured function keeps its inputs alive
        self.result: Any = None
        self._graph: Any = None
        self._stream: Any = None
        self._drawn: Any = None  # generators whose numbers each repetition draws anew

    def capture_begin(self) -> None:
        """Start capturing work queued in the current stream, which must not be the default one.

        >>> from minigrad import cuda, ones
        >>> if cuda.is_available():
        ...     x, captured = ones(2, device="cuda"), cuda.CUDAGraph()
        ...     with cuda.stream(cuda.Stream()):
        ...         captured.capture_begin(); y = x.mul_(3); captured.capture_end()
        ...     captured.replay(); captured.replay(); assert x.tolist() == [9.0, 9.0]
        """
        if self._graph is not None:
            raise RuntimeError("This CUDAGraph instance already owns a captured graph. To capture "
                               "a new graph, create a new instance.")
        stream = current_stream().stream
        if not stream.ptr:
            raise RuntimeError("CUDA graphs must be captured on a non-default stream. (However, "
                               "after capture, it's ok to replay them on the default stream.)")
        backend().begin_capture()
        try:
            stream.begin_capture()
        except BaseException:
            backend().end_capture()
            raise
        self._stream = stream

    def capture_end(self) -> None:
        """Stop capturing.

        >>> from minigrad import cuda
        >>> cuda.CUDAGraph().capture_end()
        Traceback (most recent call last):
            ...
        RuntimeError: capture_end() was called without capture_begin()
        """
        if self._stream is None:
            raise RuntimeError("capture_end() was called without capture_begin()")
        stream, self._stream = self._stream, None
        self._drawn = backend().end_capture()
        self._graph = stream.end_capture()

    def replay(self) -> None:
        """Launch the captured work, and return before it has finished.

        >>> from minigrad import cuda
        >>> cuda.CUDAGraph().replay()
        Traceback (most recent call last):
            ...
        RuntimeError: Called CUDAGraph::replay without a preceding successful capture.
        """
        if self._graph is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        self._drawn.renew()
        self._graph.launch(current_stream().stream)

    def reset(self) -> None:
        """Drop the captured work and free its memory."""
        self._graph = self._drawn = self.work = self.result = None
        self.memory = None

    def __del__(self) -> None:
        self.reset()

    def register_generator_state(self, generator: Any) -> None:
        """Do nothing, since a capture finds the generators that it uses.

        >>> from minigrad import Generator, cuda
        >>> cuda.CUDAGraph().register_generator_state(Generator())
        """

    def pool(self) -> Any:
        """Return the memory pool of tensors created during the capture.

        >>> from minigrad import cuda
        >>> cuda.CUDAGraph().pool()
        Traceback (most recent call last):
            ...
        RuntimeError: Called CUDAGraph::pool() without a preceding successful capture.
        """
        if self._graph is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self.memory


class _Capture:
    """Context manager that captures work into a graph."""

    def __init__(self, graph: CUDAGraph, pool: Any, stream: Stream | None) -> None:
        self.graph, self.pool, self.stream = graph, pool, stream
        self._stack = ExitStack()

    def __enter__(self) -> None:
        xp = backend()
        here = current_stream()
        side = Stream(here.device_index) if self.stream is None else self.stream
        side.wait_stream(here)
        memory = self.pool or GraphMemory()
        with ExitStack() as stack:
            stack.callback(here.wait_stream, side)
            stack.enter_context(stream(side))
            stack.enter_context(xp.cuda.using_allocator(memory.pool.malloc))
            self.graph.capture_begin()
            self.graph.memory = memory
            stack.callback(self.graph.capture_end)
            self._stack = stack.pop_all()

    def __exit__(self, *exc: Any) -> None:
        self._stack.__exit__(*exc)


def graph(work: CUDAGraph | Callable[[], Any], pool: Any = None, stream: Stream | None = None,
          capture_error_mode: str = "global", warmup: int = 3) -> Any:
    """Capture work on the GPU, to repeat it without Python.

    Given a function, it runs it `warmup` times (so that kernels are compiled and optimizers get
    their state), captures one call, and returns a function without arguments. That function repeats
    the captured call and returns the same tensors with new values.  Given a `CUDAGraph`, it is
    PyTorch's context manager, which captures the work in a `with` block.  `capture_error_mode` is
    ignored; CuPy always uses its relaxed mode.

    >>> from minigrad import cuda, ones
    >>> x = ones(2, device="cuda" if cuda.is_available() else "cpu")
    >>> def work():
    ...     return x * 3
    >>> again = cuda.graph(work) if cuda.is_available() else work
    >>> _ = x.fill_(2); again().tolist()
    [6.0, 6.0]
    """
    if isinstance(work, CUDAGraph):
        return _Capture(work, pool, stream)
    if not callable(work):
        raise TypeError("graph(): argument 'work' (position 1) must be a function without "
                        f"arguments or a CUDAGraph, not {type(work).__name__}")
    captured = CUDAGraph()
    here = current_stream()
    side = Stream(here.device_index) if stream is None else stream
    side.wait_stream(here)
    with side, backend().warming_up():
        for _ in range(warmup):
            work()
    here.wait_stream(side)
    backend().memory.empty(side.stream)  # no other stream could reuse this memory
    with _Capture(captured, pool, side):
        captured.work, captured.result = work, work()

    def repeat() -> Any:
        captured.replay()
        return captured.result

    repeat.graph = captured  # type: ignore[attr-defined]  # to reset it, or to share its pool
    return repeat


def graph_pool_handle() -> GraphMemory:
    """Return a new memory pool on the current GPU, for graphs to share.

    >>> from minigrad import cuda, ones
    >>> if cuda.is_available():
    ...     pool, x = cuda.graph_pool_handle(), ones(2, device="cuda")
    ...     double, triple = cuda.graph(lambda: x * 2, pool), cuda.graph(lambda: x * 3, pool)
    ...     assert double().tolist() == [2.0, 2.0]
    """
    return GraphMemory()


def is_current_stream_capturing(device: Where = None) -> bool:
    """Return whether the current stream is capturing.

    >>> from minigrad import cuda
    >>> cuda.is_current_stream_capturing() if cuda.is_available() else False
    False
    """
    found = current_stream(device).stream
    return bool(found.ptr) and bool(found.is_capturing())
