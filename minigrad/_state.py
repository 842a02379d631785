"""Thread state (grad mode, sequence numbers) and the switch of the observers.

NOTE [Who owns the grad mode]
    The mode belongs to a thread: a `ContextVar` starts at its default, enabled, in every
    new thread.  It is always restored by setting the value that was there before, in a
    `finally`, never by resetting a token: a token may only be used in the context that
    made it, and a generator may be resumed in another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from threading import Lock
from typing import Any

grad_enabled: ContextVar[bool] = ContextVar("grad_enabled", default=True)
inference_enabled: ContextVar[bool] = ContextVar("inference_enabled", default=False)
saved_tensors_hooks: ContextVar[tuple[tuple[Callable[..., Any], ...], ...]] = ContextVar(
    "saved_tensors_hooks", default=()  # pairs of pack and unpack hook; the last one is in force
)
#: Recorder of the profiler that is on, per thread; None while none is.
recorder: ContextVar[Any] = ContextVar("recorder", default=None)
#: Interceptor of ops, per thread: a dual level of forward mode, for example.
#: It has methods `op(op, values)`, `inplace(op, values)` and `function(cls, args, kwargs)`, which
#: put `transform.below` here while they work, so that transformations nest, `tangent(tensor)` and
#: `any_tangent(tensors)`.
transform: ContextVar[Any] = ContextVar("transform", default=None)
#: The casts of autocast, per thread, with a method `op(op, values)`; None while it is off.
autocast: ContextVar[Any] = ContextVar("autocast", default=None)
#: `vmap`'s `randomness`, per thread: "error", "same" or "different"; "" outside.
randomness: ContextVar[str] = ContextVar("randomness", default="")
#: The `vmap` levels with randomness="different", a `func.levels.VmapLevels`; None for none.
drawn: ContextVar[Any] = ContextVar("drawn", default=None)

_sequence: ContextVar[Callable[[], int] | None] = ContextVar("sequence", default=None)
_read_sequence = _sequence.get

#: The specialised closures and the engine's fast path run unless this is False; the
#: generic ones then serve as their oracle.  Set by the environment, read at import.
specialised: bool = os.environ.get("MINIGRAD_GENERIC", "") in ("", "0")


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


class Observers:
    """How many observers (profiler, saved-tensor hooks, inference mode, anomaly) are on.

    The specialised operators test `observers.count` once and take the generic path when
    it is not zero; which thread an observer belongs to is decided there.
    """

    __slots__ = ("_lock", "count", "on_node")

    def __init__(self) -> None:
        self.count = 0
        self.on_node: tuple[Callable[[Any], None], ...] = ()  # called with each new node
        self._lock = Lock()

    def enter(self, on_node: Callable[[Any], None] | None = None) -> None:
        """Add an observer; `on_node(node)` is called for each new node."""
        with self._lock:
            self.count += 1
            if on_node is not None:
                self.on_node = (*self.on_node, on_node)

    def leave(self, on_node: Callable[[Any], None] | None = None) -> None:
        """Remove an observer."""
        with self._lock:
            self.count -= 1
            if on_node is not None:
                watching = list(self.on_node)
                watching.remove(on_node)
                self.on_node = tuple(watching)


observers = Observers()


class Anomaly:
    """Anomaly mode: on or off, and whether it checks for NaN; shared by all threads."""

    __slots__ = ("check_nan", "enabled")

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = True


anomaly = Anomaly()


def next_sequence() -> int:
    """Return the next sequence number of this thread; the first one is 0.

    >>> next_sequence() < next_sequence()
    True
    """
    counter = _read_sequence()
    if counter is None:
        counter = count().__next__
        _sequence.set(counter)
    return counter()


def number(node: Any) -> None:
    """Give a new node the next sequence number of its thread, and show it to the observers."""
    node.sequence = next_sequence()
    for tell in observers.on_node:
        tell(node)
