"""`autocast`: run products in half precision, and ops that would lose accuracy in float32.

Source: https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _state
from ..cuda import is_available
from ..dtypes import bfloat16, float16
from ..frames import warn_user
from .casts import told, use
from .policy import LOWER
from .switches import (
    autocast_decrement_nesting,
    autocast_increment_nesting,
    bfloat16_refused,
    clear_autocast_cache,
)

__all__ = ["autocast", "is_autocast_available"]


class autocast:
    """Run suitable ops in half precision, in a `with` block or a decorated function.

    `device_type` is "cuda" or "cpu"; `dtype` is float16, the default on a GPU.  bfloat16, the CPU's
    default, raises `NotImplementedError`, because NumPy has no such dtype.  Blocks may nest, and
    `enabled=False` switches autocast off within a block.

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
            warn_user("User provided device_type of 'cuda', but CUDA is not available. "
                      "Disabling", UserWarning)
            enabled = False
        before = told()
        lower = before.chosen[device_type] if dtype is None else dtype
        if enabled and lower is bfloat16:
            raise bfloat16_refused(by_default=dtype is None)
        if enabled and lower is not float16:
            warn_user(f"In {device_type.upper()} autocast, but the target dtype is not "
                      "supported. Disabling autocast.\nHere it supports torch.float16 only.",
                      UserWarning)
            enabled = False
        self.device = device_type
        self.fast_dtype = lower
        self._enabled = bool(enabled)
        self._cache_enabled = before.caches if cache_enabled is None else cache_enabled
        self._before: list[tuple[bool, Any, bool, Any]] = []

    def __enter__(self) -> autocast:
        before, device_type = told(), self.device
        self._before.append((device_type in before.dtypes, before.chosen[device_type],
                             before.caches, before.watch))
        _state.observers.enter(intercepts=True)
        autocast_increment_nesting()
        use(before.changed(device_type, self._enabled, self.fast_dtype, self._cache_enabled))
        return self

    def __exit__(self, *exc: object) -> None:
        if not autocast_decrement_nesting():
            clear_autocast_cache()
        _state.observers.leave(intercepts=True)
        use(told().changed(self.device, *self._before.pop()))

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled):
                return func(*args, **kwargs)

        return inside


def is_autocast_available(device_type: str) -> bool:
    """Return whether autocast supports a device type.

    >>> from minigrad.amp import is_autocast_available
    >>> is_autocast_available("cpu")
    True
    """
    return device_type in LOWER
