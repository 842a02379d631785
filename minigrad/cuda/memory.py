"""Memory statistics of a GPU.

CuPy's pool keeps memory for the next tensor when one is freed; what it holds is *reserved*, what
tensors hold is *allocated*.
"""

from __future__ import annotations

from .devices import Where, backend, index_of, is_available
from .graphs import GraphMemory


def memory_allocated(device: Where = None) -> int:
    """Return the bytes that tensors hold on the GPU, in blocks of 512."""
    return int(backend().memory.used(index_of(device)))


def max_memory_allocated(device: Where = None) -> int:
    """Return the most bytes that tensors held on the GPU since the last reset."""
    return int(backend().memory.peak(index_of(device)))


def memory_reserved(device: Where = None) -> int:
    """Return the reserved bytes: those of tensors, and those that the pool keeps for new ones."""
    return int(backend().memory.held(index_of(device)))


def max_memory_reserved(device: Where = None) -> int:
    """Return the reserved bytes: they only grow until `empty_cache` is called."""
    return memory_reserved(device)


def reset_peak_memory_stats(device: Where = None) -> None:
    """Restart the maximum of `max_memory_allocated`."""
    backend().memory.reset_peak(index_of(device))


def empty_cache() -> None:
    """Return unused memory to the driver; without a GPU do nothing."""
    if is_available():
        GraphMemory.give_back()
        backend().memory.empty()


def mem_get_info(device: Where = None) -> tuple[int, int]:
    """Return the free and the total bytes of the GPU."""
    free, total = backend().memory.free_and_total(index_of(device))
    return int(free), int(total)
