"""Memory statistics of devices: the bytes held by arrays, and their peak."""

from __future__ import annotations

from threading import RLock
from typing import Any

import cupy


class Memory:
    """Counts allocations from CuPy's pool and updates the peak at each of them.

    CuPy rounds sizes up to multiples of 512 bytes, like PyTorch.  Its count of used bytes walks all
    blocks, so we read it only if a new peak is possible: if the last count plus all later
    allocations exceeds the peak.
    """

    def __init__(self) -> None:
        self.pool = cupy.get_default_memory_pool()
        self.peaks: dict[int, int] = {}
        self.bounds: dict[int, int] = {}  # an upper bound of the used bytes
        self.lock = RLock()
        cupy.cuda.set_allocator(self.allocate)

    def allocate(self, size: int) -> Any:
        """Allocate memory on the current device and update the peak."""
        pointer = self.pool.malloc(size)
        index = pointer.device_id
        with self.lock:
            bound, peak = self.bounds.get(index, 0) + pointer.mem.size, self.peaks.get(index, 0)
            if bound > peak:
                bound = self.pool.used_bytes()
                self.peaks[index] = max(peak, bound)
            self.bounds[index] = bound
        return pointer

    def used(self, index: int) -> int:
        """Return the bytes held by arrays on a device."""
        with cupy.cuda.Device(index):
            return int(self.pool.used_bytes())

    def held(self, index: int) -> int:
        """Return the bytes held by the pool, used or free."""
        with cupy.cuda.Device(index):
            return int(self.pool.total_bytes())

    def peak(self, index: int) -> int:
        """Return the maximum bytes held by arrays since the last reset."""
        return max(self.peaks.get(index, 0), self.used(index))

    def reset_peak(self, index: int) -> None:
        """Restart the peak at the bytes held now."""
        used = self.used(index)
        with self.lock:
            self.peaks[index] = self.bounds[index] = used

    def empty(self, stream: Any = None) -> None:
        """Return unused memory to the driver, from all devices or from one stream."""
        if stream is not None:
            self.pool.free_all_blocks(stream)
            return
        for index in range(cupy.cuda.runtime.getDeviceCount()):
            with cupy.cuda.Device(index):
                self.pool.free_all_blocks()

    def free_and_total(self, index: int) -> tuple[int, int]:
        """Return the free and the total bytes of the device."""
        with cupy.cuda.Device(index):
            free, total = cupy.cuda.Device(index).mem_info
        return int(free), int(total)
