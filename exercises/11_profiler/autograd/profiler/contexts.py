# Stage 11, The profiler: the exercise for minigrad/autograd/profiler/contexts.py.
# Made by `minigrad dev build`. The lesson is lessons/11_profiler.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 11
# docs/en/glossary.md explains the names used inside the package.

"""The profiler: times of the ops of the forward and of the nodes of the backward.

Source: https://docs.pytorch.org/docs/stable/autograd.html#profiler
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any, Self

from ... import _state, cuda
from ...frames import warn_user
from ..profiler_util import EventList
from .collect import events_of
from .device import DeviceRecorder
from .recorder import DetailedRecorder, Recorder
from .results import Results

__all__ = ["kineto_available", "profile", "record_function"]

UNFINISHED = "<unfinished torch.autograd.profile>"


def kineto_available() -> bool:
    """Return False, because minigrad does not use PyTorch's tracing library.

    >>> kineto_available()
    False
    """
    return False


def _profiler_enabled() -> bool:
    """Return whether a profiler is on in this thread."""
    return _state.recorder.get() is not None


class _Recording:
    """Base that activates a recorder in a `with` block, for this thread."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self.entered = False

    def _refuse(self) -> None:
        """Raise `RuntimeError` if this was entered before, or if a profiler is already on."""
        if self.entered:
            raise RuntimeError(f"{self._title()} context manager is not reentrant")
        if _profiler_enabled():
            raise RuntimeError("Profiler is already enabled on this thread")

    def _start(self, recorder: Any) -> None:
        """Activate a recorder on this thread, once; it is notified of each new node."""
        # 11.7 Switching a profile on and off (about 16 lines)
        # Record the ops and nodes of a `with` block. `_start` and `_stop` switch a recorder
        # on and off on this thread, and `profile` calls them.
        #   with profile() as prof: ...          -> prof is the profile; it records the block
        #   with profile(enabled=False): ...     -> a no-op
        #   prof entered again                   -> raises RuntimeError; prof keeps its events
        #   a second profile inside prof         -> raises RuntimeError; prof goes on recording
        #   the block raises                     -> recording ends, and the error propagates
        # Mind:
        # - While a recorder is on, its `made` observes all new nodes.
        # - `self._span` is (begin, end) in nanoseconds, without the profiler's own work.
        # Use: `self._refuse()`, `self._new_recorder()`, `_state.recorder.set(...)`,
        # `_state.observers.enter(...)` and `.leave(...)`.
        raise NotImplementedError("11.7 Switching a profile on and off is yours to write")

    def _stop(self, recorder: Any) -> None:
        """Deactivate a recorder; contexts that still hold it see `quick = False`."""
        # 11.7 Switching a profile on and off: see the task at `_Recording._start`.
        raise NotImplementedError("11.7 Switching a profile on and off is yours to write")

    def _title(self) -> str:
        return "Profiler"


def timed_event() -> cuda.Event:
    """Return a GPU event that records the time."""
    return cuda.Event(enable_timing=True)


class profile(_Recording, Results):
    """Measure every op, node and `record_function` block that runs in a `with` block.

    `record_shapes` stores the shapes of inputs, `with_stack` the calls that led to each event, and
    `profile_memory` the bytes of the arrays that ops allocate (freed memory is not subtracted).
    `use_cuda` also measures times on a GPU, and warns if no GPU is available.  `with_flops`,
    `with_modules` and PyTorch's other options have no effect.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> with profile() as prof:
    ...     (x * x).sum().backward()
    >>> [event.key for event in prof.key_averages()]
    ['aten::mul', 'aten::sum', 'torch::autograd::GraphRoot', 'SumBackward0', 'aten::expand',
     'MulBackward0', 'torch::autograd::AccumulateGrad']
    >>> [(event.name, event.cpu_parent.name) for event in prof.function_events if event.cpu_parent]
    [('aten::expand', 'SumBackward0')]
    >>> prof.total_average().count, prof.self_cpu_time_total > 0
    (7, True)
    >>> "MulBackward0" in prof.table(sort_by="count")
    True
    """

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False,
                 use_device: str | None = None, record_shapes: bool = False,
                 with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False,
                 with_modules: bool = False, use_kineto: bool = False, use_cpu: bool = True,
                 experimental_config: Any = None, acc_events: bool = False) -> None:
        super().__init__(enabled)
        self.use_cuda = use_cuda or use_device == "cuda"
        if self.use_cuda and not cuda.is_available():
            warn_user("CUDA is not available, disabling CUDA profiling")
            self.use_cuda = False
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self._span: tuple[int, int] | None = None  # begin and end in nanoseconds, None before
        self._events: EventList | None = None

    def _new_recorder(self) -> Recorder:
        """Return a recorder for these options."""
        details = (self.record_shapes, self.with_stack, self.profile_memory)
        if self.use_cuda:
            return DeviceRecorder(timed_event, *details)
        return DetailedRecorder(*details) if any(details) else Recorder()

    def __enter__(self) -> Self:
        # 11.7 Switching a profile on and off: see the task at `_Recording._start`.
        raise NotImplementedError("11.7 Switching a profile on and off is yours to write")

    def __exit__(self, *exc: object) -> None:
        # 11.7 Switching a profile on and off: see the task at `_Recording._start`.
        raise NotImplementedError("11.7 Switching a profile on and off is yours to write")

    def __repr__(self) -> str:
        return UNFINISHED if self._span is None else repr(self.function_events)

    def __str__(self) -> str:
        return UNFINISHED if self._span is None else str(self.function_events)

    @property
    def function_events(self) -> EventList:
        """The events in the order of their starts; raises `RuntimeError` before the block ends."""
        if self._span is None:
            raise RuntimeError("Profiler didn't finish running")
        if self._events is None:
            self._events = events_of(self._recorder, *self._span)
            del self._recorder
        return self._events


class record_function:
    """A named block, or a decorator for a named function, that profiles show.

    >>> from minigrad import ones
    >>> from minigrad.autograd.profiler import profile, record_function
    >>> with profile() as prof, record_function("my block"):
    ...     y = ones(2) + 1
    >>> [(event.name, len(event.cpu_children)) for event in prof.function_events]
    [('my block', 2), ('aten::ones', 0), ('aten::add', 0)]
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._open: tuple[Any, Any] | None = None  # recorder and its event, in a profile

    def __enter__(self) -> Self:
        """Open an event `name`, or `name (args)`, if a profile is active on this thread."""
        # 11.8 Named blocks (about 14 lines)
        # Give a part of the program a name in profiles, as a `with` block or as a decorator.
        #   with record_function("step") as b: ...  -> b is the block; the ops are in an event "step"
        #   record_function("step", "x, y")         -> the event is called "step (x, y)"
        #   no profile is on                        -> a no-op
        #   @record_function("f") on a function     -> a new block for each call, nested calls too
        #   the decorated function                  -> keeps its name, docstring, arguments and result
        # Mind:
        # - The event ends with the block, even after an error, and even if its profile is no
        #   longer on.
        # - A block can be used again; once it's closed, `self._open` is None.
        # Use: `_state.recorder.get()`, and a recorder's `begin` and `finish`.
        raise NotImplementedError("11.8 Named blocks is yours to write")

    def __exit__(self, *exc: object) -> None:
        """Close the event with the recorder that opened it."""
        # 11.8 Named blocks: see the task at `record_function.__enter__`.
        raise NotImplementedError("11.8 Named blocks is yours to write")

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that each call is a block of this name."""
        # 11.8 Named blocks: see the task at `record_function.__enter__`.
        raise NotImplementedError("11.8 Named blocks is yours to write")


for _each in (kineto_available, profile, record_function):
    _each.__module__ = __name__.rpartition(".")[0]  # as in PyTorch, for pickles and reprs
