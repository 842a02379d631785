"""Grad modes switch the recording of the graph on and off for the current thread.

Each is a context manager and a decorator for functions, for generators (only their bodies run in
the mode, not the caller) and, with a deprecation warning, for classes.

Source: https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, Self, TypeVar

from .. import _state
from ..frames import warn_user

GeneratorType = Generator[Any, Any, Any]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Return whether operations are recorded on this thread.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """
    return _state.grad_enabled.get()


def is_inference_mode_enabled() -> bool:
    """Return whether inference mode is on.

    >>> with inference_mode():
    ...     is_inference_mode_enabled()
    True
    """
    return _state.inference_enabled.get()


class _Mode:
    """A context manager that is also a decorator."""

    def clone(self) -> Self:
        """Return a new instance with the same settings; each decorated call needs one.

        >>> with no_grad().clone():
        ...     is_grad_enabled()
        False
        """
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    def __call__(self, decorated: Decorated) -> Decorated:
        if inspect.isclass(decorated):
            return self._wrap_class(decorated)
        if inspect.isgeneratorfunction(decorated):
            return self._wrap_generator(decorated)
        return self._wrap_function(decorated)

    def _wrap_class(self, decorated: Callable[..., Any]) -> Any:
        """Decorate the constructor of a class, with a warning, and return the class."""
        warn_user("Decorating classes is deprecated and will be disabled in future versions. "
                  "You should only decorate functions or methods. To preserve the current "
                  "behavior of class decoration, you can directly decorate the `__init__` "
                  "method and nothing else.", FutureWarning)
        setattr(decorated, "__init__", self(getattr(decorated, "__init__")))  # noqa: B009, B010  # typed
        return decorated

    def _wrap_function(self, decorated: Callable[..., Any]) -> Any:
        """Return a function that calls `decorated` in the mode, and then restores the caller's."""

        @functools.wraps(decorated)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return decorated(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, decorated: Callable[..., GeneratorType]) -> Any:
        """Run a generator in the mode between its yields, without changing the caller's mode."""

        @functools.wraps(decorated)
        def wrapped(*args: Any, **kwargs: Any) -> GeneratorType:
            generator = decorated(*args, **kwargs)
            try:
                with self.clone():
                    response = generator.send(None)
                while True:
                    try:
                        request = yield response
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as error:
                        with self.clone():
                            response = generator.throw(error)
                    else:
                        with self.clone():
                            response = generator.send(request)
            except StopIteration as stop:
                return stop.value

        return wrapped


class _Switch(_Mode):
    """Switch recording on or off, for a block or for the calls of a function."""

    recording: bool

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Self:
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)  # type: ignore[return-value]  # the decorated function

    def __enter__(self) -> None:
        self.previous = _state.grad_enabled.get()
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc: object) -> None:
        _state.grad_enabled.set(self.previous)


class no_grad(_Switch):
    """Disable recording: results do not require grad, and no gradient flows back through them.

    >>> from minigrad import tensor
    >>> x = tensor(1.0, requires_grad=True)
    >>> with no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    recording = False


class enable_grad(_Switch):
    """Re-enable recording inside `no_grad`; has no effect in inference mode.

    >>> with no_grad(), enable_grad():
    ...     is_grad_enabled()
    True
    """

    recording = True


def _require_bool(mode: object) -> None:
    """Raise `TypeError` unless the argument of `set_grad_enabled` is a bool."""
    if not isinstance(mode, bool):
        raise TypeError("set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                        f"{type(mode).__name__}")


class set_grad_enabled(_Mode):
    """Switch recording to `mode`, immediately or for a `with` block.

    >>> _ = set_grad_enabled(False); is_grad_enabled()
    False
    >>> _ = set_grad_enabled(True)
    """

    def __init__(self, mode: bool) -> None:
        _require_bool(mode)
        self.previous = _state.grad_enabled.get()
        self.mode = mode
        _state.grad_enabled.set(mode)

    def __call__(self, decorated: Decorated) -> Decorated:
        _state.grad_enabled.set(self.previous)
        return super().__call__(decorated)

    def __enter__(self) -> None:
        _state.grad_enabled.set(self.mode)

    def __exit__(self, *exc: object) -> None:
        _state.grad_enabled.set(self.previous)

    def __str__(self) -> str:
        return f"{type(self).__name__}(mode={self.mode})"

    __repr__ = __str__

    def clone(self) -> Self:
        return type(self)(self.mode)


class inference_mode(_Mode):
    """Disable recording and version counting; tensors created inside can never enter a graph.

    >>> from minigrad import ones
    >>> with inference_mode():
    ...     x = ones(2)
    >>> x.is_inference()
    True
    """

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self.previous = _state.inference_enabled.get(), _state.grad_enabled.get()
        _state.inference_enabled.set(self.mode)
        _state.grad_enabled.set(not self.mode)
        _state.observers.enter()

    def __exit__(self, *exc: object) -> None:
        _state.observers.leave()
        inference, grad = self.previous
        _state.inference_enabled.set(inference)
        _state.grad_enabled.set(grad)

    def clone(self) -> Self:
        return type(self)(self.mode)
