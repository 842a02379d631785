"""How much memory arrays hold on the devices, and the most that they held."""

from __future__ import annotations

from typing import Any

import cupy


class Memory:
    """Counts what CuPy's pool hands out; the peak is taken wherever memory is asked for.

    CuPy rounds sizes up to multiples of 512 bytes, as PyTorch does.
    """

    def __init__(self) -> None:
        self.pool = cupy.get_default_memory_pool()
        self.peaks: dict[int, int] = {}
        cupy.cuda.set_allocator(self.allocate)

    def allocate(self, size: int) -> Any:
        """Hand out memory of the current device and note a new peak."""
        pointer = self.pool.malloc(size)
        used, index = self.pool.used_bytes(), pointer.device_id
        if used > self.peaks.get(index, 0):
            self.peaks[index] = used
        return pointer

    def used(self, index: int) -> int:
        """Return the bytes that arrays hold on a device."""
        with cupy.cuda.Device(index):
            return int(self.pool.used_bytes())

    def held(self, index: int) -> int:
        """Return the bytes that the pool holds, for arrays now and to come."""
        with cupy.cuda.Device(index):
            return int(self.pool.total_bytes())

    def peak(self, index: int) -> int:
        """Return the most bytes that arrays held since the last reset."""
        return max(self.peaks.get(index, 0), self.used(index))

    def reset_peak(self, index: int) -> None:
        """Count the peak anew from what is held now."""
        self.peaks[index] = self.used(index)

    def empty(self) -> None:
        """Give what no array holds back to the driver."""
        self.pool.free_all_blocks()

    def free_and_total(self, index: int) -> tuple[int, int]:
        """Return what the device has free and in all."""
        with cupy.cuda.Device(index):
            free, total = cupy.cuda.Device(index).mem_info
        return int(free), int(total)
