"""What belongs to a thread (grad mode, sequence numbers) and the one switch of the observers.

NOTE [Who owns the grad mode]
    The mode belongs to a thread: a `ContextVar` starts at its default, enabled, in every
    new thread.  It is always restored by setting the value that was there before, in a
    `finally`, never by resetting a token: a token may only be used in the context that
    made it, and a generator may be resumed in another.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from threading import Lock
from typing import Any

grad_enabled: ContextVar[bool] = ContextVar("grad_enabled", default=True)
inference_enabled: ContextVar[bool] = ContextVar("inference_enabled", default=False)
saved_tensors_hooks: ContextVar[tuple[tuple[Callable[..., Any], ...], ...]] = ContextVar(
    "saved_tensors_hooks", default=()  # pairs of pack and unpack hook; the last one is in force
)
anomaly_enabled: ContextVar[bool] = ContextVar("anomaly_enabled", default=False)

_sequence: ContextVar[Callable[[], int] | None] = ContextVar("sequence", default=None)
_read_sequence = _sequence.get

#: The specialised closures and the engine's fast path run unless this is False; the
#: generic ones then serve as their oracle.  Set by the environment, read at import.
specialised: bool = os.environ.get("MINIGRAD_GENERIC", "") in ("", "0")


class Observers:
    """How many observers (profiler, saved-tensor hooks, inference mode, anomaly) are on.

    The specialised operators test `observers.count` once and take the generic path when
    it is not zero; which thread an observer belongs to is decided there.
    """

    __slots__ = ("_lock", "count")

    def __init__(self) -> None:
        self.count = 0
        self._lock = Lock()

    def enter(self) -> None:
        """Count one observer more."""
        with self._lock:
            self.count += 1

    def leave(self) -> None:
        """Count one observer less."""
        with self._lock:
            self.count -= 1


observers = Observers()


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
