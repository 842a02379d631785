"""`minigrad.cuda`: GPUs, their memory, streams, graphs and random numbers.

Without CuPy and a driver, `is_available()` is False, and functions that need a GPU raise a
`RuntimeError` that says what to install.

Source: https://docs.pytorch.org/docs/stable/cuda.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from . import nvtx, random
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
        set_device,
    )
    from .graphs import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing
    from .memory import (
        empty_cache,
        max_memory_allocated,
        max_memory_reserved,
        mem_get_info,
        memory_allocated,
        memory_reserved,
        reset_peak_memory_stats,
    )
    from .random import (
        get_rng_state,
        get_rng_state_all,
        initial_seed,
        manual_seed,
        manual_seed_all,
        seed,
        seed_all,
        set_rng_state,
        set_rng_state_all,
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
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = [
    "CUDAGraph", "Event", "Stream", "StreamContext", "current_device", "current_stream",
    "default_stream", "device", "device_count", "device_of", "empty_cache",
    "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state",
    "get_rng_state_all", "graph", "graph_pool_handle", "init", "initial_seed", "is_available",
    "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "manual_seed",
    "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "nvtx", "random", "reset_peak_memory_stats", "seed", "seed_all",
    "set_device", "set_rng_state", "set_rng_state_all", "stream", "synchronize",
]
