"""The child's side of children.py: read a line, do its steps within limits, write lines.

If the input ends later, the parent has gone, so the process stops.
"""

from __future__ import annotations

import _thread
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from . import budget
from .work import NOT_READ, TOO_DEEP, TOO_LARGE

__all__ = ["run"]


def run(steps: Callable[[dict[str, Any]], Iterator[dict[str, Any]]]) -> None:
    """Do some steps with limits, and write each result as a line of JSON.

    A result with the key "begins" starts a new step with its full computing time.
    """
    # A program that was started in the background ignores this signal, and so would its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    given = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_watch, daemon=True).start()
    results = steps(given)
    budget.limit_memory_and_depth()
    gc.disable()  # it would walk the syntax tree of a long text again and again
    try:
        for result in results:
            if "begins" in result:
                budget.limited_time()
            _write(result)
    except (RecursionError, MemoryError) as error:
        why = TOO_DEEP if isinstance(error, RecursionError) else TOO_LARGE
        _write({"ended": f"{NOT_READ}: {why}"})
    _write({"done": True})


def _write(result: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(result).encode() + b"\n")
    sys.stdout.buffer.flush()


def _watch() -> None:
    """End this process once its parent is gone, and with it the sandbox that it waits for."""
    while os.read(0, 65536):
        pass
    _thread.interrupt_main()
