"""Thread state (grad mode and the like) and the switch of the observers.

NOTE [Who owns the grad mode]
    The mode belongs to a thread: a `ContextVar` starts at its default, enabled, in every
    new thread.  It is always restored by setting the value that was there before, in a
    `finally`, never by resetting a token: a token may only be used in the context that
    made it, and a generator may be resumed in another.

NOTE [Interceptors]
    A profiler, autocast and the levels of forward mode see each op before it runs.  They are one
    stack, empty by default: the profiler comes first, then autocast, then the levels, the one
    entered last before the others.  Each has methods `op(op, values, proceed)` and
    `inplace(op, values, before, proceed)`, which call `proceed` to hand the op on.

    Batches are the one exception: an op knows them by their arrays.  A `BatchedArray` belongs to a
    backend of its own, whose `run_op` replaces the steps of `apply` behind all interceptors.  The
    level of an array says which `vmap` is the innermost, so that levels need no stack, and ops
    without batches run inside `vmap` as outside it.  An interceptor would have to be open wherever
    a batch may come: in passes with batched gradients, in their hooks, in batching rules.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from threading import RLock
from typing import Any

grad_enabled: ContextVar[bool] = ContextVar("grad_enabled", default=True)
inference_enabled: ContextVar[bool] = ContextVar("inference_enabled", default=False)
#: Pairs of pack and unpack hook; the last one is in force.
saved_tensors_hooks: ContextVar[tuple[tuple[Callable[..., Any], Callable[..., Any]], ...]] = (
    ContextVar("saved_tensors_hooks", default=()))
#: The recorder of the profiler that is on, on its thread; None while none is.
recorder: ContextVar[Any] = ContextVar("recorder", default=None)
#: The casts of autocast on its thread; None where it is off.
autocast: ContextVar[Any] = ContextVar("autocast", default=None)
#: The innermost level of forward mode on its thread; `below` leads to the next.
transform: ContextVar[Any] = ContextVar("transform", default=None)
#: `vmap`'s `randomness`, per thread: "error", "same" or "different"; "" outside.
randomness: ContextVar[str] = ContextVar("randomness", default="")
#: The `vmap` levels with randomness="different", a `func.levels.VmapLevels`; None for none.
drawn: ContextVar[Any] = ContextVar("drawn", default=None)

#: Devices of new tensors that no argument sends elsewhere, the last one in force: first what
#: `set_default_device` was told (None for the CPU), then those of the blocks that were entered.
default_devices: ContextVar[tuple[Any, ...]] = ContextVar("default_devices", default=(None,))

#: Whether functions are written out by `codegen/`: the environment does not forbid it, and the
#: folder is there.
codegen: bool = (os.environ.get("MINIGRAD_GENERIC", "") in ("", "0")
                 and find_spec(f"{__package__}.codegen") is not None)


@contextmanager
def having(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """Set a variable of this module, or of another, for the duration of a block.

    >>> with having(randomness, "same"):
    ...     randomness.get()
    'same'
    """
    outer = variable.get()
    try:
        variable.set(value)
        yield
    finally:
        variable.set(outer)


def interceptors() -> tuple[Any, ...]:
    """Return the interceptors of ops on this thread, first to last; see NOTE [Interceptors]."""
    levels, level = [], transform.get()
    while level is not None:
        levels.append(level)
        level = level.below
    return tuple([each for each in (recorder.get(), autocast.get(), *levels) if each is not None])


class Count:
    """A number that one test reads: how many of something are on."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Observers(Count):
    """How many observers of ops are on: interceptors, and whatever changes what ops record.

    `observers.count` is the one test that an operation makes; which thread an observer belongs to
    matters only where the count is not zero.  `recording.count` says how many of them change what
    ops record: inference mode and hooks of saved tensors.
    """

    __slots__ = ("_lock", "on_node", "recording")

    def __init__(self) -> None:
        super().__init__()
        self.recording = Count()
        self.on_node: tuple[Callable[[Any], None], ...] = ()  # called with each new node
        self._lock = RLock()  # a collection of garbage may come here from within

    def enter(self, on_node: Callable[[Any], None] | None = None, *,
              intercepts: bool = False) -> None:
        """Add an observer; `on_node(node)` is called for each new node.

        One that has `on_node`, or that `intercepts` ops, does not change what they record.
        """
        with self._lock:
            self.count += 1
            if on_node is not None:
                self.on_node = (*self.on_node, on_node)
            elif not intercepts:
                self.recording.count += 1

    def leave(self, on_node: Callable[[Any], None] | None = None, *,
              intercepts: bool = False) -> None:
        """Remove an observer; the arguments are those that `enter` got."""
        with self._lock:
            self.count -= 1
            if on_node is not None:
                watching = list(self.on_node)
                watching.remove(on_node)
                self.on_node = tuple(watching)
            elif not intercepts:
                self.recording.count -= 1


observers = Observers()


class Anomaly:
    """Anomaly mode: on or off, and whether it checks for NaN; shared by all threads.

    `autograd.anomaly_mode` fills in the two functions that the engine calls while it is on:
    `watched(evaluate)` returns the function to evaluate nodes with, and
    `check_gradients(node, grads)` raises for results with NaN.
    """

    __slots__ = ("check_gradients", "check_nan", "enabled", "watched")

    check_gradients: Callable[[Any, Any], None]
    watched: Callable[[Callable[[Any, Any], None]], Callable[[Any, Any], None]]

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = True


anomaly = Anomaly()
