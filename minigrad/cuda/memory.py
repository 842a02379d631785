"""Memory statistics of a GPU.

When a tensor is freed, CuPy's pool keeps its memory for the next one. Memory held by the pool is
*reserved*, memory held by tensors is *allocated*. Both are 0 until a GPU is used, as in PyTorch,
and so they are always 0 without one.
"""

from __future__ import annotations

from .devices import Where, backend, index_of, is_available, is_initialized
from .graphs import GraphMemory


def memory_allocated(device: Where = None) -> int:
    """Return the bytes that tensors hold on the GPU, in blocks of 512.

    >>> from minigrad import cuda, zeros
    >>> before = cuda.memory_allocated()
    >>> x = zeros(1000, device="cuda" if cuda.is_available() else "cpu")  # 4000 bytes
    >>> cuda.memory_allocated() - before == (4096 if cuda.is_available() else 0)
    True
    """
    return int(backend().memory.used(index_of(device))) if is_initialized() else 0


def max_memory_allocated(device: Where = None) -> int:
    """Return the maximum bytes that tensors held on the GPU since the last reset.

    >>> from minigrad import cuda, zeros
    >>> if cuda.is_available():
    ...     cuda.reset_peak_memory_stats(); before = cuda.memory_allocated()
    ...     x = zeros(1000, device="cuda"); del x
    ...     assert cuda.max_memory_allocated() >= before + 4096
    """
    return int(backend().memory.peak(index_of(device))) if is_initialized() else 0


def memory_reserved(device: Where = None) -> int:
    """Return the reserved bytes: held by tensors, or kept by the pool for new ones.

    >>> from minigrad import cuda
    >>> cuda.memory_reserved() >= cuda.memory_allocated()
    True
    """
    return int(backend().memory.held(index_of(device))) if is_initialized() else 0


def max_memory_reserved(device: Where = None) -> int:
    """Return the reserved bytes; they only grow until `empty_cache` is called.

    >>> from minigrad import cuda
    >>> cuda.max_memory_reserved() >= cuda.memory_reserved()
    True
    """
    return memory_reserved(device)


def reset_peak_memory_stats(device: Where = None) -> None:
    """Restart the maximum of `max_memory_allocated`.

    >>> from minigrad import cuda
    >>> if cuda.is_available():
    ...     cuda.reset_peak_memory_stats()
    ...     assert cuda.max_memory_allocated() == cuda.memory_allocated()
    """
    backend().memory.reset_peak(index_of(device))


def empty_cache() -> None:
    """Return unused memory to the driver; a no-op without a GPU.

    >>> from minigrad import cuda
    >>> cuda.empty_cache()
    """
    if is_available():
        GraphMemory.give_back()
        backend().memory.empty()


def mem_get_info(device: Where = None) -> tuple[int, int]:
    """Return the free and the total bytes of the GPU.

    >>> from minigrad import cuda
    >>> free, total = cuda.mem_get_info() if cuda.is_available() else (0, 0)
    >>> free <= total
    True
    """
    free, total = backend().memory.free_and_total(index_of(device))
    return int(free), int(total)
