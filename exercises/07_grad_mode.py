# Stage 07, Grad modes: the exercise for minigrad/autograd/grad_mode.py.
# Made by `minigrad dev build`. The lesson is lessons/07_grad_mode.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 07
# Names of the package's inside are explained in docs/en/glossary.md.

"""Grad modes: switch the recording of the graph on and off, per thread.

Each is a context manager and a decorator of functions, of generators (only the body runs in the
mode, not its caller) and, with a deprecation warning, of classes.

Source: https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from typing import Any, Self

from .. import _state

GeneratorType = Generator[Any, Any, Any]


def is_grad_enabled() -> bool:
    """Tell whether operations are recorded on this thread.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """
    # 07.1 A block that switches recording (about 4 lines)
    # `is_grad_enabled()` returns the mode of this thread as True or False: read the
    # context variable `_state.grad_enabled` with its `get()`. `_Switch.__enter__`
    # remembers in `self.previous` the mode in which the block is entered, then switches
    # to `self.recording` with `_state.grad_enabled.set(...)`. `_Switch.__exit__` puts the
    # remembered mode back, whichever it was and however the block ends; an exception goes
    # on its way. Both return None. `no_grad` and `enable_grad` are `_Switch` with
    # `recording` False and True.
    raise NotImplementedError("07.1 A block that switches recording is yours to write")


def is_inference_mode_enabled() -> bool:
    """Tell whether inference mode is on."""
    return _state.inference_enabled.get()


class _Mode:
    """A context manager that is a decorator as well."""

    def clone(self) -> Self:
        """Return a new switch of the same kind: each call of a decorated function needs its own."""
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    def __call__(self, decorated: Callable[..., Any]) -> Any:
        # 07.2 A mode as a decorator (about 14 lines)
        # Return what replaces `decorated`. (1) A class: warn with a `FutureWarning` whose
        # text begins with "Decorating classes is deprecated", put the decorated constructor
        # in the place of its `__init__`, and return the class itself; its other methods stay
        # as they are. (2) A generator function: return what `self._wrap_generator(decorated)`
        # returns. (3) Any other callable: return a function that passes all arguments on,
        # runs `decorated` inside a block of this mode, returns its result, and has its name
        # and docstring (`functools.wraps`). Nothing is switched and nothing is called while
        # decorating. Each call uses a mode object of its own, from `self.clone()`, because a
        # function may call itself.
        raise NotImplementedError("07.2 A mode as a decorator is yours to write")

    def _wrap_generator(self, decorated: Callable[..., GeneratorType]) -> Callable[..., Any]:
        """Run a generator in the mode between its yields; the caller keeps its own mode."""
        # 07.3 A generator in its mode, its caller in the caller's (about 22 lines)
        # Return a generator function that wraps the generator function `decorated`, with its
        # name and docstring. Each stretch of the body, from one `yield` to the next, runs
        # inside a block of this mode, with an object of its own from `self.clone()`; while
        # the generator waits at a `yield`, no such block is open, so the caller runs in the
        # caller's mode. Everything else is as without the wrapper: the body begins at the
        # first `next`; the items come out; what is sent goes in; an exception thrown in
        # reaches the body, in the mode; `close()` closes the body's generator, in the mode,
        # and ends; an exception of the body comes out; the value that the body returns is
        # returned.
        raise NotImplementedError("07.3 A generator in its mode, its caller in the caller's is yours to write")


class _Switch(_Mode):
    """Switches recording on or off, for a block or for the calls of a function."""

    recording: bool

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)

    def __enter__(self) -> None:
        # 07.1 A block that switches recording: see the task at `is_grad_enabled`.
        raise NotImplementedError("07.1 A block that switches recording is yours to write")

    def __exit__(self, *exc: object) -> None:
        # 07.1 A block that switches recording: see the task at `is_grad_enabled`.
        raise NotImplementedError("07.1 A block that switches recording is yours to write")


class no_grad(_Switch):
    """Record nothing: results do not require grad.

    >>> from minigrad import tensor
    >>> x = tensor(1.0, requires_grad=True)
    >>> with no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    recording = False


class enable_grad(_Switch):
    """Record again, inside `no_grad`; has no effect on inference mode.

    >>> with no_grad(), enable_grad():
    ...     is_grad_enabled()
    True
    """

    recording = True


class set_grad_enabled(_Mode):
    """Switch recording to `mode`: immediately as a plain call, or for a `with` block.

    >>> _ = set_grad_enabled(False); is_grad_enabled()
    False
    >>> _ = set_grad_enabled(True)
    """

    def __init__(self, mode: bool) -> None:
        # 07.4 set_grad_enabled: a call, a block, a decorator (about 10 lines)
        # `set_grad_enabled(mode)` takes effect at once: `__init__` refuses what is no bool,
        # before anything is switched, with TypeError "set_grad_enabled(): argument 'enabled'
        # (position 1) must be bool, not int" (the name of its type); then it remembers the
        # mode that was on as `self.previous`, keeps `mode` as `self.mode` and switches to it.
        # `__call__(decorated)`, the use as a decorator, first switches back to
        # `self.previous`, because only the calls are to run in the mode, and then returns
        # what `_Mode.__call__` returns (`super()`). `__enter__` switches to `self.mode`
        # again, in case something else was set in between. `__exit__` puts `self.previous`
        # back, however the block ends.
        raise NotImplementedError("07.4 set_grad_enabled: a call, a block, a decorator is yours to write")

    def __call__(self, decorated: Callable[..., Any]) -> Any:
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
    """Record nothing and count no versions: tensors made inside can never enter a graph.

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
        # A block of inference mode switches two context variables: `_state.inference_enabled`
        # to `self.mode` and `_state.grad_enabled` to its opposite (inference mode records
        # nothing, and `inference_mode(False)` inside it records again). `__enter__` first
        # keeps both modes that were on in `self.previous`, and at its end tells the engine
        # with `_state.observers.enter()` that somebody is watching how tensors are made;
        # `__exit__` tells it `_state.observers.leave()` and puts both modes back as they
        # were, however the block ends. Exceptions go on their way.
        raise NotImplementedError("07.5 Inference mode is yours to write")

    def __exit__(self, *exc: object) -> None:
        # 07.5 Inference mode: see the task at `inference_mode.__enter__`.
        raise NotImplementedError("07.5 Inference mode is yours to write")

    def clone(self) -> Self:
        return type(self)(self.mode)
