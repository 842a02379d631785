"""`torch.futures`: results that are set later.

Source: https://docs.pytorch.org/docs/stable/futures.html
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A result that one thread sets and others wait for. Source: `torch.futures.Future`.

    `devices` is ignored, since values are ready on a device once they are set.

    >>> from minigrad.futures import Future
    >>> future = Future()
    >>> doubled = future.then(lambda done: 2 * done.value())
    >>> future.set_result(3)
    >>> future.done(), doubled.wait()
    (True, 6)
    """

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        self._set = threading.Event()
        self._lock = threading.Lock()
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Return whether there is a result or an error."""
        return self._set.is_set()

    def wait(self) -> T:
        """Wait for the result and return it, or raise the error."""
        self._set.wait()
        return self.value()

    def value(self) -> T:
        """Return the result, or raise the error; raise `RuntimeError` if there is neither yet."""
        if not self.done():
            raise RuntimeError("The Future has not been completed: call wait() first")
        if self._error is not None:
            raise self._error
        result: T = self._result
        return result

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """Return a future for the result of `callback`, called with this future once it is done.

        If the callback raises, the returned future gets a `RuntimeError` that says so.
        """
        following: Future[S] = Future()

        def call(done: Future[T]) -> None:
            try:
                result = callback(done)
            except Exception as error:
                following.set_exception(RuntimeError(
                    "Got the following error when running the callback: "
                    f"{type(error).__name__}: {error}"))
            else:
                following.set_result(result)

        self.add_done_callback(call)
        return following

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call `callback` with this future once it is done, perhaps immediately."""
        with self._lock:
            if not self.done():
                self._callbacks.append(callback)
                return
        callback(self)

    def set_result(self, result: T) -> None:
        """Set the result; raise `RuntimeError` if it is already set."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Set an error to raise in the threads that wait."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def _complete(self, result: Any, error: BaseException | None) -> None:
        with self._lock:
            if self.done():
                raise RuntimeError("Attempting to mark a completed Future as complete again. Note "
                                   "that a Future can only be marked completed once.")
            self._result, self._error = result, error
            self._set.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future for the list, done once all are done. Source: `torch.futures.collect_all`.

    >>> from minigrad.futures import Future, collect_all
    >>> first, second = Future(), Future()
    >>> both = collect_all([first, second])
    >>> first.set_result(1); second.set_result(2)
    >>> [future.value() for future in both.wait()]
    [1, 2]
    """
    together: Future[list[Future[Any]]] = Future()
    waiting = [len(futures)]
    lock = threading.Lock()

    def count(done: Future[Any]) -> None:
        with lock:
            waiting[0] -= 1
            last = not waiting[0]
        if last:
            together.set_result(futures)

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        together.set_result(futures)
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Wait for all futures and return their results, or raise the first error among them.

    Source: `torch.futures.wait_all`.
    """
    return [future.wait() for future in collect_all(futures).wait()]
