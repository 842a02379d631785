"""Run a program that may wait forever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

__all__ = ["limited"]


def limited(program: Callable[[], Any], seconds: float = 1.0) -> Any:
    """Return `program()`, or raise a `TimeoutError` if it is still running after some seconds.

    The program runs on a daemon thread, which can be left behind. An exception that ends another
    thread in the meantime is raised too.

    >>> limited(lambda: 6 * 7)
    42
    """
    ended: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            ended.put((program(), None))
        except BaseException as error:
            ended.put((None, error))

    def note(thread: threading.ExceptHookArgs) -> None:
        ended.put((None, thread.exc_value or thread.exc_type()))

    before, threading.excepthook = threading.excepthook, note
    try:
        threading.Thread(target=work, daemon=True).start()
        result, error = ended.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"still waiting after {seconds:g} s") from None
    finally:
        threading.excepthook = before
    if error is not None:
        raise error
    return result
