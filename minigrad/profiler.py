"""`minigrad.profiler`: PyTorch's newer interface to the same profiler.

Source: https://docs.pytorch.org/docs/stable/profiler.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any, Self

from . import on_demand
from .autograd.profiler import kineto_available, record_function
from .autograd.profiler import profile as autograd_profile
from .autograd.profiler_util import EventList

__all__ = ["ProfilerActivity", "kineto_available", "profile", "record_function",
           "supported_activities"]

__path__: list[str] = []  # for modules below it that are left out
__getattr__ = on_demand.attributes(__name__)[0]


class ProfilerActivity(Enum):
    """Activities to measure; `CUDA` exists for programs that refer to it."""

    CPU = 0
    CUDA = 2


def supported_activities() -> set[ProfilerActivity]:
    """Return the supported activities: the CPU."""
    return {ProfilerActivity.CPU}


class profile:
    """Measure what runs in a `with` block, or between `start()` and `stop()`.

    At the end it calls `on_trace_ready(prof)`.  See `minigrad.autograd.profiler.profile` for the
    other options; steps and schedules are left out.

    >>> from minigrad import ones
    >>> with profile(activities=[ProfilerActivity.CPU]) as prof:
    ...     y = ones(2) * 2
    >>> [event.key for event in prof.key_averages()]
    ['aten::ones', 'aten::mul']
    """

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None,
                 on_trace_ready: Callable[[profile], Any] | None = None,
                 record_shapes: bool = False, profile_memory: bool = False,
                 with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False) -> None:
        self.activities = supported_activities() if activities is None else set(activities)
        self.on_trace_ready = on_trace_ready
        self.profiler = autograd_profile(
            use_cuda=activities is not None and ProfilerActivity.CUDA in self.activities,
            record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start measuring."""
        self.profiler.__enter__()

    def stop(self) -> None:
        """Stop measuring."""
        self.profiler.__exit__()
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def events(self) -> EventList:
        """Return the events in the order in which they began."""
        return self.profiler.function_events

    def key_averages(self, group_by_input_shape: bool = False,
                     group_by_stack_n: int = 0) -> EventList:
        """Return the averages of the events by name."""
        return self.profiler.key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str | Path) -> None:
        """Write a trace that https://ui.perfetto.dev and chrome://tracing can open."""
        self.profiler.export_chrome_trace(path)

    def export_stacks(self, path: str | Path, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with their times; requires `with_stack`."""
        self.profiler.export_stacks(path, metric)
