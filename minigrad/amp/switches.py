"""Functions to control autocast without a block: on or off, its precision, cache and depth.

`autocast` is built from them; a program that saves and restores these settings itself can call
them.

Source: `torch.set_autocast_enabled`, `torch.set_autocast_dtype` and similar functions.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ..device import device
from ..dtypes import NO_BFLOAT16, bfloat16
from ..dtypes import dtype as Dtype
from ..frames import warn_user
from .casts import Watch, told, use

__all__ = [
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
]

_nesting: ContextVar[int] = ContextVar("nesting", default=0)


def known(function: str, device_type: Any) -> str:
    """Return a device type; raise `TypeError` or `RuntimeError` unless autocast supports it."""
    if not isinstance(device_type, str):
        raise TypeError(f"{function}(): argument 'device_type' (position 1) must be str, not "
                        f"{type(device_type).__name__}")
    return device(device_type).type


def bfloat16_refused(by_default: bool) -> NotImplementedError:
    """Return the error for a lower precision of bfloat16."""
    return NotImplementedError("autocast on the CPU uses bfloat16 by default; "
                               * by_default + NO_BFLOAT16)


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return whether autocast is on for a device type.

    >>> import minigrad as torch
    >>> torch.is_autocast_enabled("cpu")
    False
    """
    return known("is_autocast_enabled", device_type) in told().dtypes


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a device type; with a single bool, for the GPU.

    Raises `NotImplementedError` if its precision is bfloat16.

    >>> import minigrad as torch
    >>> torch.set_autocast_dtype("cpu", torch.float16)
    >>> torch.set_autocast_enabled("cpu", True)
    >>> (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.float16
    >>> torch.set_autocast_enabled("cpu", False)
    >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    given, on, position = ("cuda", device_type, 1) if enabled is None else (device_type, enabled, 2)
    if not isinstance(on, bool):
        raise TypeError(f"set_autocast_enabled(): argument 'enabled' (position {position}) must be "
                        f"bool, not {type(on).__name__}")
    given = known("set_autocast_enabled", given)
    if on and told().chosen[given] is bfloat16:
        raise bfloat16_refused(by_default=given == "cpu")
    use(told().changed(given, on, watch=Watch() if on else None))


def get_autocast_dtype(device_type: str) -> Dtype:
    """Return the lower precision of a device type.

    >>> import minigrad as torch
    >>> torch.get_autocast_dtype("cuda")
    torch.float16
    """
    return told().chosen[known("get_autocast_dtype", device_type)]


def set_autocast_dtype(device_type: str, dtype: Dtype) -> None:
    """Set the lower precision of a device type, also for blocks that do not name one.

    >>> import minigrad as torch
    >>> torch.set_autocast_dtype("cpu", torch.float16)
    >>> with torch.autocast("cpu"):
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.float16
    >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    given = known("set_autocast_dtype", device_type)
    if not isinstance(dtype, Dtype):
        raise TypeError("set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, "
                        f"not {type(dtype).__name__}")
    if dtype is bfloat16 and given in told().dtypes:
        raise bfloat16_refused(by_default=False)
    use(told().changed(given, lower=dtype))


def is_autocast_cache_enabled() -> bool:
    """Return whether casts of weights are cached.

    >>> import minigrad as torch
    >>> torch.is_autocast_cache_enabled()
    True
    """
    return told().caches


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether casts of weights are cached.

    >>> import minigrad as torch
    >>> torch.set_autocast_cache_enabled(False)
    >>> torch.is_autocast_cache_enabled()
    False
    >>> torch.set_autocast_cache_enabled(True)
    """
    use(told().changed("cpu", caches=only("enabled must be a bool", bool, enabled)))


def clear_autocast_cache() -> None:
    """Clear the cached casts.

    >>> import minigrad as torch
    >>> torch.clear_autocast_cache()
    """
    told().cache.clear()


def autocast_increment_nesting() -> int:
    """Mark the beginning of a block, and return the number of open blocks.

    >>> import minigrad as torch
    >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    (1, 0)
    """
    _nesting.set(_nesting.get() + 1)
    return _nesting.get()


def autocast_decrement_nesting() -> int:
    """Mark the end of a block, and return the number of blocks that are still open.

    >>> import minigrad as torch
    >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    (1, 0)
    """
    _nesting.set(_nesting.get() - 1)
    return _nesting.get()


# -------------------------------------------------------------------- names for one device type


def only(wanted: str, expected: type, value: Any) -> Any:
    """Return a value of a type; raise `TypeError` for other values."""
    if not isinstance(value, expected):
        raise TypeError(f"{wanted} (got {type(value).__name__})")
    return value


def older(name: str, arguments: str, today: str) -> None:
    """Warn that a name is deprecated."""
    warn_user(f"torch.{name}({arguments}) is deprecated. Please use torch.{today} instead.",
              DeprecationWarning)


def is_autocast_cpu_enabled() -> bool:
    """Deprecated: use `is_autocast_enabled("cpu")`."""
    older("is_autocast_cpu_enabled", "", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Deprecated: use `set_autocast_enabled("cpu", enabled)`."""
    older("set_autocast_cpu_enabled", "enabled", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", only("enabled must be a bool", bool, enabled))


def get_autocast_cpu_dtype() -> Dtype:
    """Deprecated: use `get_autocast_dtype("cpu")`."""
    older("get_autocast_cpu_dtype", "", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Dtype) -> None:
    """Deprecated: use `set_autocast_dtype("cpu", dtype)`."""
    older("set_autocast_cpu_dtype", "dtype", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", only("dtype must be a torch.dtype", Dtype, dtype))


def get_autocast_gpu_dtype() -> Dtype:
    """Deprecated: use `get_autocast_dtype("cuda")`."""
    older("get_autocast_gpu_dtype", "", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Dtype) -> None:
    """Deprecated: use `set_autocast_dtype("cuda", dtype)`."""
    older("set_autocast_gpu_dtype", "dtype", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", only("dtype must be a torch.dtype", Dtype, dtype))
