"""Thread state (grad mode and the like) and the switch of the observers.

NOTE [Who owns the grad mode]
    The mode belongs to a thread: a `ContextVar` has its default value, enabled, in every new
    thread.  To restore it, always set the previous value in a `finally` instead of resetting a
    token, because a token is only valid in the context that created it, and a generator may resume
    in another context.

NOTE [Interceptors]
    A profiler, autocast and the levels of forward mode see each op before it runs.  They form one
    stack, empty by default: first the profiler, then autocast, then the levels, starting
    with the one entered last.  Each has methods `op(op, values, proceed)` and `inplace(op, values,
    before, proceed)`, which call `proceed` to pass the op on.

    Batches are the one exception, because an op recognises them by their arrays.  A `BatchedArray`
    has a separate backend, whose `run_op` replaces the steps of `apply` after all interceptors.  An
    array's level identifies the innermost `vmap`, so levels need no stack, and ops without batches
    run the same inside and outside `vmap`.  An interceptor would have to be active wherever a batch
    may occur: in passes with batched gradients, in their hooks, in batching rules.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from threading import RLock
from typing import Any, NamedTuple


class TorchFunctionState(NamedTuple):
    """Whether classes can take calls over, and the active modes, the innermost last.

    If it `skips`, the next call goes ahead without them.
    """

    subclasses: bool = True
    modes: tuple[Any, ...] = ()
    skips: bool = False


ENABLED = TorchFunctionState()


grad_enabled: ContextVar[bool] = ContextVar("grad_enabled", default=True)
inference_enabled: ContextVar[bool] = ContextVar("inference_enabled", default=False)
#: Pairs of pack and unpack hooks; the last one is active.
saved_tensors_hooks: ContextVar[tuple[tuple[Callable[..., Any], Callable[..., Any]], ...]] = (
    ContextVar("saved_tensors_hooks", default=()))
#: The active profiler's recorder, per thread, or None.
recorder: ContextVar[Any] = ContextVar("recorder", default=None)
#: The casts of autocast, per thread, or None while it is off.
autocast: ContextVar[Any] = ContextVar("autocast", default=None)
#: The innermost level of forward mode, per thread; `below` leads to the next.
transform: ContextVar[Any] = ContextVar("transform", default=None)
#: The functions of the derivatives in `func` that are being computed, the innermost last.
transformed: ContextVar[tuple[Any, ...]] = ContextVar("transformed", default=())
#: The recording of a program, per thread, or None; see aot/trace/record.py.
program: ContextVar[Any] = ContextVar("program", default=None)
#: `vmap`'s `randomness`, per thread: "error", "same" or "different"; "" outside.
randomness: ContextVar[str] = ContextVar("randomness", default="")
#: The `vmap` levels with randomness="different", as `func.levels.VmapLevels`, or None.
drawn: ContextVar[Any] = ContextVar("drawn", default=None)

#: Which `__torch_function__` this thread calls; see NOTE [Overrides] in op/overrides.py.
torch_function: ContextVar[TorchFunctionState] = ContextVar("torch_function", default=ENABLED)

#: Default devices of new tensors, the last one active: first the value of `set_default_device`
#: (None for the CPU), then the devices of the blocks that were entered.
default_devices: ContextVar[tuple[Any, ...]] = ContextVar("default_devices", default=(None,))

#: Whether `codegen/` generates functions: the folder exists, and the environment does not forbid
#: it.
codegen: bool = (os.environ.get("MINIGRAD_GENERIC", "") in ("", "0")
                 and find_spec(f"{__package__}.codegen") is not None)




#: The module `op.overrides`: the package fills it in, because tensors are below it.
overrides: Any = None


def compile_module(module: Any, *args: Any, **kwargs: Any) -> None:
    """Compile a module in place; the package replaces this, since the compiler is above modules.

    >>> compile_module(None)
    Traceback (most recent call last):
        ...
    NotImplementedError: the compiler is not loaded
    """
    raise NotImplementedError("the compiler is not loaded")


@contextmanager
def having(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """Set a variable of this module, or of another one, for the duration of a block.

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


def interceptors() -> tuple[Any, ...]:
    """Return this thread's interceptors of ops, first to last; see NOTE [Interceptors]."""
    levels, level = [], transform.get()
    while level is not None:
        levels.append(level)
        level = level.below
    stack = (recorder.get(), autocast.get(), *levels, program.get())
    return tuple([each for each in stack if each is not None])


class Count:
    """A number that a single test can read: how many of something are active."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Observers(Count):
    """The number of active observers of ops: interceptors, and modes that change how ops record.

    `observers.count` is the only test that an operation makes; it matters which thread an observer
    belongs to only if the count is not zero.  `recording.count` is the number of observers that
    change what ops record: inference mode and saved-tensor hooks.
    """

    __slots__ = ("_lock", "on_node", "recording")

    def __init__(self) -> None:
        super().__init__()
        self.recording = Count()
        self.on_node: tuple[Callable[[Any], None], ...] = ()  # called with each new node
        self._lock = RLock()  # garbage collection may re-enter

    def enter(self, on_node: Callable[[Any], None] | None = None, *,
              intercepts: bool = False) -> None:
        """Add an observer; `on_node(node)` is called for each new node.

        An observer with `on_node`, or one that `intercepts` ops, does not change what they record.
        """
        with self._lock:
            self.count += 1
            if on_node is not None:
                self.on_node = (*self.on_node, on_node)
            elif not intercepts:
                self.recording.count += 1

    def leave(self, on_node: Callable[[Any], None] | None = None, *,
              intercepts: bool = False) -> None:
        """Remove an observer; pass the arguments that `enter` got."""
        with self._lock:
            self.count -= 1
            if on_node is not None:
                watching = list(self.on_node)
                watching.remove(on_node)
                self.on_node = tuple(watching)
            elif not intercepts:
                self.recording.count -= 1


observers = Observers()
#: How many classes and modes with a `__torch_function__` there are, so that zero costs one test.
overriding = Count()


class Anomaly:
    """Anomaly mode: whether it is on, and whether it checks for NaN; shared by all threads.

    `autograd.anomaly_mode` fills in the two functions that the engine calls while it is on:
    `watched(evaluate)` returns the function to evaluate nodes with, and `check_gradients(node,
    grads)` raises if a result contains NaN.
    """

    __slots__ = ("check_gradients", "check_nan", "enabled", "watched")

    check_gradients: Callable[[Any, Any], None]
    watched: Callable[[Callable[[Any, Any], None]], Callable[[Any, Any], None]]

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = True


anomaly = Anomaly()
