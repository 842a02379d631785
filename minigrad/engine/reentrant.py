"""Nested backward passes, which run in a fresh thread beyond a certain depth."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread
from typing import Any

#: How deep passes may be nested on one thread before the next one gets a fresh thread, whose
#: interpreter stack is empty.
MAX_DEPTH = 40


def in_fresh_thread(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that runs `function` on a new thread and waits until it ends."""

    def call(*args: Any) -> None:
        failure: list[BaseException] = []

        def work() -> None:
            try:
                function(*args)
            except BaseException as error:  # raised again in the waiting thread
                failure.append(error)

        thread = Thread(target=copy_context().run, args=(work,), name="minigrad reentrant backward")
        thread.start()
        try:
            thread.join()
        except BaseException:  # Ctrl-C waits, so that no work continues after the caller returned
            thread.join()
            raise
        if failure:
            raise failure[0]

    return call
