"""`minigrad.cuda`: whether there is a GPU, and what can be asked of it.

Without CuPy and a driver `is_available()` is False, and what needs a GPU raises `RuntimeError`,
which says what to install.

Source: https://docs.pytorch.org/docs/stable/cuda.html
"""

from __future__ import annotations

from . import nvtx
from .devices import (
    current_device,
    device,
    device_count,
    device_of,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    manual_seed,
    manual_seed_all,
    set_device,
)
from .graphs import CUDAGraph, graph, is_current_stream_capturing
from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    reset_peak_memory_stats,
)
from .streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    stream,
    synchronize,
)

__all__ = [
    "CUDAGraph", "Event", "Stream", "StreamContext", "current_device", "current_stream",
    "default_stream", "device", "device_count", "device_of", "empty_cache",
    "get_device_capability", "get_device_name", "get_device_properties", "graph", "init",
    "is_available", "is_bf16_supported", "is_current_stream_capturing", "is_initialized",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_reserved", "nvtx", "reset_peak_memory_stats",
    "set_device", "stream", "synchronize",
]  # fmt: skip
