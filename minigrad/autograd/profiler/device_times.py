"""Times and bytes of an event on a GPU, with PyTorch's newer and older names.

Source: https://docs.pytorch.org/docs/stable/autograd.html#profiler
"""

from __future__ import annotations

__all__ = ["DeviceTimes"]


class DeviceTimes:
    """Base of events and averages: their times and bytes on a GPU, 0 without one.

    >>> from minigrad.autograd.profiler_util import FunctionEvent, FunctionEventAvg
    >>> event = FunctionEvent(0, "aten::mul", 1, 0.0, 9.0)
    >>> event.device_time_total = event.self_device_time_total = 6.0
    >>> average = FunctionEventAvg().add(event).add(event)
    >>> average.device_time_total, average.device_time
    (12.0, 6.0)
    >>> average.cuda_time_total, average.self_cuda_time_total, average.cuda_time
    (12.0, 12.0, 6.0)
    """

    count: int

    #: Microseconds on a GPU, with `use_cuda`: in total, and without nested events.
    device_time_total = self_device_time_total = 0.0
    device_memory_usage = self_device_memory_usage = 0
    cuda_memory_usage = self_cuda_memory_usage = 0

    @property
    def device_time(self) -> float:
        """The average time of a call on the GPU, in microseconds."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def cuda_time(self) -> float:
        """PyTorch's older name for `device_time`."""
        return self.device_time

    @property
    def cuda_time_total(self) -> float:
        """PyTorch's older name for `device_time_total`."""
        return self.device_time_total

    @property
    def self_cuda_time_total(self) -> float:
        """PyTorch's older name for `self_device_time_total`."""
        return self.self_device_time_total
