"""`autocast`: products run in half precision, ops that would lose accuracy in float32.

While it is on, `apply` passes each op's arguments to the `Casts` in `_state.autocast`, which casts
the tensors among them to the dtype that `policy` names.  While it is off it costs nothing: `apply`
only tests the count of observers.

Source: https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from .. import _state
from ..cuda import is_available
from ..dtypes import NO_BFLOAT16, bfloat16, dtype, float16, float32, float64
from ..op.declaration import Op
from ..ops.shape.convert import converted
from ..tensor.tensor import Tensor
from .policy import FUNCTIONS_IN_FLOAT32, FUNCTIONS_LOWER, LOWER, OPS_IN_FLOAT32

__all__ = ["Casts", "autocast", "get_autocast_dtype", "is_autocast_available",
           "is_autocast_enabled"]

#: The default lower precision.
DEFAULTS = {"cpu": bfloat16, "cuda": float16}


class Casts:
    """The lower precision of each type of device with autocast on, and the cache of casts."""

    __slots__ = ("cache", "caches", "dtypes")

    def __init__(self, dtypes: dict[str, dtype], cache: dict[Any, Any], caches: bool) -> None:
        self.dtypes, self.cache, self.caches = dtypes, cache, caches

    def op(self, op: type[Op], values: list[Any], proceed: Callable[..., Any]) -> Any:
        """Run an op in the precision that it is to run in."""
        return proceed(op, self.cast_all(op, values))

    def inplace(self, op: type[Op], values: list[Any], before: Any,
                proceed: Callable[..., Any]) -> Any:
        """Write in place in the precision of the target."""
        return proceed(op, values, before)

    def cast_all(self, op: type[Op], values: list[Any]) -> list[Any]:
        """Return an op's arguments in the precision that it is to run in."""
        kind = device_type_of(values)
        lower = None if kind is None else self.dtypes.get(kind)
        if kind is None or lower is None:
            return values
        name = op.__name__
        if name in LOWER[kind]:
            return [self.cast(value, kind, lower) for value in values]
        if name in OPS_IN_FLOAT32[kind]:
            return [self.cast(value, kind, float32) for value in values]
        return values

    def function(self, name: str, args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return a function's arguments, cast to the precision that the function runs in."""
        kind = device_type_of((*args, *kwargs.values()))
        lower = None if kind is None else self.dtypes.get(kind)
        if kind is None or lower is None:
            return args, kwargs
        single = name in FUNCTIONS_IN_FLOAT32[kind]
        if not single and name not in FUNCTIONS_LOWER:
            return args, kwargs
        wanted = float32 if single else lower
        return (tuple(self.cast(value, kind, wanted) for value in args),
                {key: self.cast(value, kind, wanted) for key, value in kwargs.items()})

    def cast(self, value: Any, kind: str, wanted: dtype) -> Any:
        """Return a floating tensor of this type of device in another dtype; float64 stays."""
        if isinstance(value, (list, tuple)):
            return type(value)(self.cast(v, kind, wanted) for v in value) if any(
                isinstance(v, Tensor) for v in value) else value
        if not isinstance(value, Tensor) or not value.is_floating_point():
            return value
        if value.dtype in (wanted, float64) or value.device.type != kind:
            return value
        if not (self.caches and value.is_leaf and value.requires_grad and wanted is not float32):
            return converted(value, wanted, None)
        # A weight is cast once while autocast is on.
        key = id(value), _state.grad_enabled.get()
        entry = self.cache.get(key)
        if entry is None or entry[1] != value._version:
            entry = self.cache[key] = value, value._version, converted(value, wanted, None)
        return entry[2]


def device_type_of(values: Any) -> str | None:
    """Return the device type of the first tensor among arguments, or None."""
    for value in values:
        if isinstance(value, Tensor):
            kind = value.device.type
            return kind if kind in LOWER else None
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor):
            return device_type_of(value)
    return None


class autocast:
    """Run suitable ops in half precision, in a `with` block or a decorated function.

    `device_type` is "cuda" or "cpu", `dtype` float16, the default on a GPU.  bfloat16, the CPU's
    default, raises NotImplementedError: NumPy has no such dtype.  Blocks nest, and `enabled=False`
    switches it off within.

    >>> from minigrad import autocast, float16, ones
    >>> with autocast("cpu", dtype=float16):
    ...     (ones(2, 2) @ ones(2, 2)).dtype
    torch.float16
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in LOWER:
            raise RuntimeError("User specified an unsupported autocast device_type "
                               f"'{device_type}'")
        if enabled and device_type == "cuda" and not is_available():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. "
                          "Disabling", UserWarning, stacklevel=2)
            enabled = False
        lower = DEFAULTS[device_type] if dtype is None else dtype
        if enabled and lower is bfloat16:
            raise NotImplementedError("autocast on the CPU means bfloat16 unless told otherwise; "
                                      * (dtype is None) + NO_BFLOAT16)
        if enabled and lower is not float16:
            warnings.warn(f"In {device_type.upper()} autocast, but the target dtype is not "
                          "supported. Disabling autocast.\nHere it supports torch.float16 only.",
                          UserWarning, stacklevel=2)
            enabled = False
        self.device = device_type
        self.fast_dtype = lower
        self._enabled = bool(enabled)
        self._cache_enabled = cache_enabled is not False
        self._before: list[Any] = []

    def __enter__(self) -> autocast:
        before = _state.autocast.get()
        dtypes = {} if before is None else dict(before.dtypes)
        dtypes.pop(self.device, None)
        if self._enabled:
            dtypes[self.device] = self.fast_dtype
        self._before.append(before)
        _state.observers.enter()
        cache: dict[Any, Any] = {} if before is None else before.cache
        casts = Casts(dtypes, cache, self._cache_enabled) if dtypes else None
        _state.autocast.set(casts)
        return self

    def __exit__(self, *exc: object) -> None:
        _state.observers.leave()
        _state.autocast.set(self._before.pop())

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled):
                return func(*args, **kwargs)

        return inside


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Tell whether autocast is on for a type of device.

    >>> is_autocast_enabled("cpu")
    False
    """
    casts = _state.autocast.get()
    return casts is not None and device_type in casts.dtypes


def get_autocast_dtype(device_type: str) -> dtype:
    """Return the lower precision of a type of device.

    >>> get_autocast_dtype("cuda")
    torch.float16
    """
    casts = _state.autocast.get()
    default = DEFAULTS[device_type]
    return default if casts is None else casts.dtypes.get(device_type, default)


def is_autocast_available(device_type: str) -> bool:
    """Tell whether autocast supports a type of device.

    >>> is_autocast_available("cpu")
    True
    """
    return device_type in LOWER
