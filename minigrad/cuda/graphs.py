"""Work captured once and launched as one: no Python, and one call to the driver, per repetition.

NOTE [What can be captured]
    A capture queues work without running it, so nothing in it may look at values: no `.item()`, no
    `print`, no mask as an index, no copy to or from the host.  Checks that ops make of their
    indices are left out while capturing.  Sizes and Python numbers are those of the capture for
    good, and so is the memory: tensors made inside live in a pool of the graph's own, which is kept
    as long as the graph, and each launch writes to them anew.  New data is copied into tensors that
    the captured function reads; it is kept with the graph, and with it what it refers to.

Source: https://docs.pytorch.org/docs/stable/generated/torch.cuda.CUDAGraph.html
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ClassVar

from .devices import Where, backend
from .streams import Stream, current_stream, stream


class GraphMemory:
    """The memory that graphs work in, of one or of several that share it.

    CuPy forgets a pool that nobody refers to, but not its free memory.  So it is given back when
    the last graph is gone: not before, since a graph writes to memory which for CuPy is free.
    Where tensors still live in it, the rest goes back when a later graph goes, or by `empty_cache`.
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
        """Give back what no tensor uses of the memory of graphs that are gone."""
        for pool, device in cls._waiting[:]:
            with device:
                pool.free_all_blocks()
                if not pool.used_bytes():
                    cls._waiting.remove((pool, device))


class CUDAGraph:
    """Captured work; `replay()` launches it in the current stream."""

    def __init__(self) -> None:
        self.memory: GraphMemory | None = None
        self.work: Any = None  # what `graph` captured: it holds what the captured work reads
        self.result: Any = None
        self._graph: Any = None
        self._stream: Any = None
        self._drawn: Any = None  # the random numbers that each repetition draws anew

    def capture_begin(self) -> None:
        """Capture what is queued in the current stream, which must not be the default one."""
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
        """Stop capturing."""
        if self._stream is None:
            raise RuntimeError("capture_end() was called without capture_begin()")
        stream, self._stream = self._stream, None
        self._drawn = backend().end_capture()
        self._graph = stream.end_capture()

    def replay(self) -> None:
        """Do the captured work once more; returns before it is done."""
        if self._graph is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        self._drawn.renew()
        self._graph.launch(current_stream().stream)

    def reset(self) -> None:
        """Forget what was captured and free its memory."""
        self._graph = self._drawn = self.work = self.result = None
        self.memory = None

    def __del__(self) -> None:
        self.reset()

    def register_generator_state(self, generator: Any) -> None:
        """Do nothing: a generator that is drawn from in the capture is noticed by itself."""

    def pool(self) -> Any:
        """Return the memory that tensors made during the capture live in."""
        if self._graph is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self.memory


class _Capture:
    """The `with` block in which work is captured into a graph."""

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

    With a function, the one from here: it runs `warmup` times as it is (kernels are compiled,
    optimizers get their state), is captured, and comes back as a function without arguments that
    repeats it and returns what it returned, whose values are new each time.  With a `CUDAGraph`,
    PyTorch's: a `with` block whose work is captured.  `capture_error_mode` is accepted and CuPy's
    own, relaxed, is used.
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
    backend().memory.empty(side.stream)  # what the stream keeps, nobody else could use
    with _Capture(captured, pool, side):
        captured.work, captured.result = work, work()

    def repeat() -> Any:
        captured.replay()
        return captured.result

    repeat.graph = captured  # type: ignore[attr-defined]  # to reset it, or to share its pool
    return repeat


def graph_pool_handle() -> GraphMemory:
    """Return memory of its own on the current GPU, for the graphs that are to share it."""
    return GraphMemory()


def is_current_stream_capturing(device: Where = None) -> bool:
    """Tell whether work queued now is captured."""
    found = current_stream(device).stream
    return bool(found.ptr) and bool(found.is_capturing())
