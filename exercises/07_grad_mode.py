# Stage 07, Grad modes: the exercise for minigrad/autograd/grad_mode.py.
# Made by `minigrad dev build`. The lesson is lessons/07_grad_mode.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 07
# docs/en/glossary.md explains the names used inside the package.

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
    # 07.1 A block that switches recording (about 4 lines)
    # A `no_grad` or `enable_grad` block runs in the mode `self.recording`. After the
    # block, the mode is what it was when the block was entered. `is_grad_enabled()`
    # returns this thread's mode.
    #   with no_grad():                   # inside: is_grad_enabled() -> False
    #       with enable_grad(): pass      # inside: is_grad_enabled() -> True
    #       is_grad_enabled()             -> False: the first block continues
    # Mind:
    # - The mode may be changed again inside the block. The block may also raise an
    #   exception, which isn't swallowed.
    # - `with no_grad() as entered` sets `entered` to None.
    # - One object may be used for two blocks, one after the other.
    # Use: `_state.grad_enabled`, with a separate value for each thread, and its methods
    # `get()` and `set(mode)`.
    raise NotImplementedError("07.1 A block that switches recording is yours to write")


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
        # 07.2 A mode as a decorator (about 5 lines)
        # Return a function that calls `decorated` in this mode and returns its result.
        # Decorating doesn't call or switch anything. Each call enters and leaves the mode,
        # even if it raises.
        #   @no_grad()
        #   def down(n): return down(n - 1) if n else is_grad_enabled()
        #   down(3)                          -> False
        #   is_grad_enabled()                -> True: the caller's mode is back
        #   down.__name__                    -> 'down'
        # Mind:
        # - A function may call itself, and each call has to restore the right mode.
        # - The new function keeps the name and the docstring of the decorated one.
        # Use: `self.clone()`, which returns an object of the same kind with the same setting;
        # `functools.wraps`.
        raise NotImplementedError("07.2 A mode as a decorator is yours to write")

    def _wrap_generator(self, decorated: Callable[..., GeneratorType]) -> Any:
        """Run a generator in the mode between its yields, without changing the caller's mode."""
        # 07.3 A generator in its mode, its caller in the caller's (about 22 lines)
        # Return a generator function that behaves like `decorated`, except that each stretch
        # of the body, up to its next `yield`, runs in this mode.
        #   @no_grad()
        #   def two(): sent = yield is_grad_enabled(); yield sent, is_grad_enabled()
        #   g = two(); next(g)               -> False
        #   is_grad_enabled()                -> True: between stretches, the caller's mode
        #   g.send(5)                        -> (5, False)
        # Mind:
        # - A generator may run another one of its kind, which uses the same mode object.
        # - Exceptions, including any BaseException, reach the body in the mode, and the
        #   wrapper yields the body's next item.
        # - `close()` runs the body's `finally` in the mode.
        # - The body's return value is returned; name and docstring stay.
        # Use: the generator's `send`, `throw`, `close`.
        raise NotImplementedError("07.3 A generator in its mode, its caller in the caller's is yours to write")


class _Switch(_Mode):
    """Switch recording on or off, for a block or for the calls of a function."""

    recording: bool

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Self:
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)  # type: ignore[return-value]  # the decorated function

    def __enter__(self) -> None:
        # 07.1 A block that switches recording: see the task at `is_grad_enabled`.
        raise NotImplementedError("07.1 A block that switches recording is yours to write")

    def __exit__(self, *exc: object) -> None:
        # 07.1 A block that switches recording: see the task at `is_grad_enabled`.
        raise NotImplementedError("07.1 A block that switches recording is yours to write")


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
        # 07.4 set_grad_enabled: a call, a block, a decorator (about 8 lines)
        # One object has three uses. Creating it switches the mode immediately; after a `with`
        # block, the mode from before the object was created is back; as a decorator, only the
        # calls run in the mode.
        #   set_grad_enabled(False)           # recording is off from here on
        #   with set_grad_enabled(True): ...  # on inside, off after it
        #   f = set_grad_enabled(True)(is_grad_enabled)
        #   is_grad_enabled(), f()            -> (False, True)
        # Mind:
        # - `self.mode` is the mode that was passed. If it isn't a bool, an error is raised
        #   before anything is switched.
        # - A block switches again when it's entered, in case the mode was changed after the
        #   object was created.
        # - A call restores its caller's mode.
        # Use: `_require_bool(mode)`; `super().__call__` decorates.
        raise NotImplementedError("07.4 set_grad_enabled: a call, a block, a decorator is yours to write")

    def __call__(self, decorated: Decorated) -> Decorated:
        # 07.4 set_grad_enabled: a call, a block, a decorator: see the task at `set_grad_enabled.__init__`.
        raise NotImplementedError("07.4 set_grad_enabled: a call, a block, a decorator is yours to write")

    def __enter__(self) -> None:
        # 07.4 set_grad_enabled: a call, a block, a decorator: see the task at `set_grad_enabled.__init__`.
        raise NotImplementedError("07.4 set_grad_enabled: a call, a block, a decorator is yours to write")

    def __exit__(self, *exc: object) -> None:
        # 07.4 set_grad_enabled: a call, a block, a decorator: see the task at `set_grad_enabled.__init__`.
        raise NotImplementedError("07.4 set_grad_enabled: a call, a block, a decorator is yours to write")

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
        # 07.5 Inference mode (about 8 lines)
        # An inference mode block switches two variables: inference mode to `self.mode`, and
        # recording to its opposite. After the block, even if it raised, both are what they
        # were before it.
        #   with inference_mode():                # inference on, recording off
        #       with inference_mode(False): ...   # inference off, recording on
        #       x * 2                             # inference on, recording off again
        # Mind:
        # - Fast paths check for inference mode only while observers exist: call
        #   `_state.observers.enter()` once on entering, `_state.observers.leave()` once on
        #   leaving.
        # Use: `_state.inference_enabled` and `_state.grad_enabled`, each with `get()` and
        # `set(mode)`.
        raise NotImplementedError("07.5 Inference mode is yours to write")

    def __exit__(self, *exc: object) -> None:
        # 07.5 Inference mode: see the task at `inference_mode.__enter__`.
        raise NotImplementedError("07.5 Inference mode is yours to write")

    def clone(self) -> Self:
        return type(self)(self.mode)
