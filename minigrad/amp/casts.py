"""The casts that autocast makes before ops, and its settings on this thread.

While it is on, `apply` passes each op's arguments to the `Casts` in `_state.autocast`, which casts
the tensors among them to the dtype from `policy`.  While it is off it costs no time, because
`apply` only tests the count of observers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .. import _state
from ..dtypes import bfloat16, dtype, float16, float32, float64
from ..op.declaration import Op
from ..ops.shape.convert import converted
from ..tensor.tensor import Tensor
from .policy import FUNCTIONS_IN_FLOAT32, FUNCTIONS_LOWER, LOWER, OPS_IN_FLOAT32

__all__ = ["Casts", "as_before", "told", "use"]

#: The default lower precision.
DEFAULTS = {"cpu": bfloat16, "cuda": float16}


class Watch:
    """Keeps autocast observing ops as long as some thread or context refers to it."""

    def __init__(self) -> None:
        _state.observers.enter(intercepts=True)

    def __del__(self) -> None:
        _state.observers.leave(intercepts=True)


class Casts:
    """A thread's autocast settings, and the casts that they imply.

    `chosen` maps each device type to its lower precision, `dtypes` contains the device types for
    which autocast is on, and `cache` keeps the casts if `caches` is set.  If autocast was switched
    on without a block, `watch` keeps it observing ops.
    """

    __slots__ = ("cache", "caches", "chosen", "dtypes", "watch")

    def __init__(self, chosen: dict[str, dtype], on: Iterable[str], cache: dict[Any, Any],
                 caches: bool, watch: Watch | None = None) -> None:
        self.chosen, self.cache, self.caches = chosen, cache, caches
        self.dtypes = {device_type: chosen[device_type] for device_type in on}
        self.watch = watch if self.dtypes else None

    def changed(self, device_type: str, on: bool | None = None, lower: dtype | None = None,
                caches: bool | None = None, watch: Watch | None = None) -> Casts:
        """Return these settings, changed for one device type."""
        return Casts(
            self.chosen if lower is None else {**self.chosen, device_type: lower},
            self.dtypes if on is None else self.dtypes_with(device_type, on),
            self.cache, self.caches if caches is None else caches, watch or self.watch)

    def dtypes_with(self, device_type: str, on: bool) -> set[str]:
        """Return the device types for which autocast is on, with one switched on or off."""
        return {*self.dtypes} | {device_type} if on else {*self.dtypes} - {device_type}

    def op(self, op: type[Op], values: list[Any], proceed: Callable[..., Any]) -> Any:
        """Run an op in the precision that the policy selects."""
        return proceed(op, self.cast_all(op, values))

    def inplace(self, op: type[Op], values: list[Any], before: Any,
                proceed: Callable[..., Any]) -> Any:
        """Write in place in the precision of the target."""
        return proceed(op, values, before)

    def cast_all(self, op: type[Op], values: list[Any]) -> list[Any]:
        """Return an op's arguments in the precision that the policy selects."""
        device_type = device_type_of(values)
        lower = None if device_type is None else self.dtypes.get(device_type)
        if device_type is None or lower is None:
            return values
        name = op.__name__
        if name in LOWER[device_type]:
            return [self.cast(value, device_type, lower) for value in values]
        if name in OPS_IN_FLOAT32[device_type]:
            return [self.cast(value, device_type, float32) for value in values]
        return values

    def function(self, name: str, args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return a function's arguments, cast to the precision that the function runs in."""
        device_type = device_type_of((*args, *kwargs.values()))
        lower = None if device_type is None else self.dtypes.get(device_type)
        if device_type is None or lower is None:
            return args, kwargs
        single = name in FUNCTIONS_IN_FLOAT32[device_type]
        if not single and name not in FUNCTIONS_LOWER:
            return args, kwargs
        wanted = float32 if single else lower
        return (tuple(self.cast(value, device_type, wanted) for value in args),
                {key: self.cast(value, device_type, wanted) for key, value in kwargs.items()})

    def cast(self, value: Any, device_type: str, wanted: dtype) -> Any:
        """Cast a floating tensor on this device type to another dtype; float64 stays unchanged."""
        if isinstance(value, (list, tuple)):
            return type(value)(self.cast(v, device_type, wanted) for v in value) if any(
                isinstance(v, Tensor) for v in value) else value
        if not isinstance(value, Tensor) or not value.is_floating_point():
            return value
        if value.dtype in (wanted, float64) or value.device.type != device_type:
            return value
        if not (self.caches and value.is_leaf and value.requires_grad and wanted is not float32):
            return converted(value, wanted, None)
        # A weight is cast only once while autocast is on.
        key = id(value), _state.grad_enabled.get()
        entry = self.cache.get(key)
        if entry is None or entry[1] != value._version:
            entry = self.cache[key] = value, value._version, converted(value, wanted, None)
        return entry[2]


def device_type_of(values: Any) -> str | None:
    """Return the device type of the first tensor among the arguments, or `None`."""
    for value in values:
        if isinstance(value, Tensor):
            device_type = value.device.type
            return device_type if device_type in LOWER else None
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor):
            return device_type_of(value)
    return None


#: The settings of autocast on this thread; None before the first use.
_told: ContextVar[Casts | None] = ContextVar("told", default=None)


def told() -> Casts:
    """Return the settings of autocast on this thread."""
    return _told.get() or Casts(DEFAULTS, (), {}, True)


def use(casts: Casts) -> None:
    """Use these settings from now on, on this thread."""
    _told.set(casts)
    _state.autocast.set(casts if casts.dtypes else None)


@contextmanager
def as_before(casts: Casts) -> Iterator[None]:
    """Use earlier settings within a block, with a separate cache."""
    now = told()
    _state.observers.enter(intercepts=True)
    try:
        use(Casts(casts.chosen, casts.dtypes, {}, casts.caches))
        yield
    finally:
        use(now)
        _state.observers.leave(intercepts=True)
