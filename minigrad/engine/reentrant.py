"""Backward passes inside each other: from a certain depth on, each in a fresh thread."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread
from typing import Any

#: How deep backward may call itself on one thread before it goes on in a fresh one, whose
#: interpreter stack is empty.
MAX_DEPTH = 40


def in_fresh_thread(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that calls this one on a thread of its own and waits for its end."""

    def call(*args: Any) -> None:
        failure: list[BaseException] = []

        def work() -> None:
            try:
                function(*args)
            except BaseException as error:  # carried to the thread that waits
                failure.append(error)

        thread = Thread(target=copy_context().run, args=(work,), name="minigrad reentrant backward")
        thread.start()
        try:
            thread.join()
        except BaseException:  # Ctrl-C has to wait: nothing may go on behind the caller's back
            thread.join()
            raise
        if failure:
            raise failure[0]

    return call
