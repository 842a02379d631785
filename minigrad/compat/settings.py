"""PyTorch settings that programs make at the start, and that change little in minigrad.

Each keeps its value, so that a program can read it back.
"""

from __future__ import annotations

from typing import Any

from ..backend.threads import get_num_threads, keep_products_on_one_thread
from ..dtypes import set_default_dtype
from ..frames import warn_user, warn_user_once
from ..ops.creation import legacy
from ..ops.creation.legacy import LegacyType

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]

#: The types of tensors by name.
TYPES = {f"torch.{name}": kind for name, kind in vars(legacy).items()
         if isinstance(kind, LegacyType)}

_set: dict[str, Any] = {"precision": "highest", "deterministic": False, "warn_only": False,
                        "warn_always": False, "interop": 0}


def set_float32_matmul_precision(precision: str) -> None:
    """Set the required precision of float32 products; minigrad always uses the "highest".

    Warns unless the value is "highest", "high" or "medium". Source:
    `torch.set_float32_matmul_precision`.

    >>> import minigrad as torch
    >>> torch.set_float32_matmul_precision("high")
    >>> torch.get_float32_matmul_precision()
    'high'
    >>> torch.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        warn_user(f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
                  "setFloat32MatmulPrecision call has no effect.", UserWarning)
        return
    _set["precision"] = precision


def get_float32_matmul_precision() -> str:
    """Return the value of `set_float32_matmul_precision`, initially "highest"."""
    return str(_set["precision"])


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Request the same bits on every run, and with any number of threads.

    On a CPU, only matrix products depend on the number of threads, so they run on one thread while
    the mode is on. That takes the extra "threads"; without it, you get a warning if there is more
    than one thread. On a GPU, operations that add in varying order keep doing so, without an error.
    Source: `torch.use_deterministic_algorithms`.

    >>> import minigrad as torch
    >>> torch.use_deterministic_algorithms(False)
    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    _set["deterministic"], _set["warn_only"] = bool(mode), bool(mode) and warn_only
    if not keep_products_on_one_thread(bool(mode)):
        warn_user("use_deterministic_algorithms: the last bits of matrix products still depend on "
                  "the number of threads, because threadpoolctl isn't installed. Install the extra "
                  "'threads', or set OMP_NUM_THREADS=1 before Python starts.", UserWarning)


def are_deterministic_algorithms_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` is on."""
    return bool(_set["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` is on with `warn_only`."""
    return bool(_set["warn_only"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set `use_deterministic_algorithms` by a number or a name: 0 default, 1 warn, 2 error.

    Raises `RuntimeError` for other values. Source: `torch.set_deterministic_debug_mode`.
    """
    names = ("default", "warn", "error")
    if isinstance(debug_mode, str):
        if debug_mode not in names:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, "
                               f"`error`, but got {debug_mode}")
        debug_mode = names.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError("invalid value of debug_mode, expected 0, 1, or 2, but got "
                           f"{debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """Return 0, 1 or 2; see `set_deterministic_debug_mode`."""
    return (2 - _set["warn_only"]) if _set["deterministic"] else 0


def set_warn_always(b: bool) -> None:
    """Request one-time warnings every time; in minigrad, Python's filters decide instead."""
    _set["warn_always"] = bool(b)


def is_warn_always_enabled() -> bool:
    """Return the value of `set_warn_always`."""
    return bool(_set["warn_always"])


def set_num_interop_threads(n: int) -> None:
    """Set how many operations may run in parallel: always one here. `RuntimeError` below 1."""
    if n < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _set["interop"] = n


def get_num_interop_threads() -> int:
    """Return the value of `set_num_interop_threads`."""
    return int(_set["interop"]) or get_num_threads()


def set_flush_denormal(mode: bool) -> bool:
    """Return False, because NumPy keeps denormal numbers. Source: `torch.set_flush_denormal`."""
    return False


def set_default_tensor_type(t: Any) -> None:
    """Make the dtype of a tensor type such as `torch.DoubleTensor` the default.

    Raises `TypeError` unless it is the type of floating tensors, or its name.

    >>> import minigrad as torch
    >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    warn_user_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.")
    given = TYPES.get(t, t) if isinstance(t, str) else t
    if not isinstance(given, LegacyType):
        raise TypeError("invalid type object: only floating-point types are supported as the "
                        "default type")
    set_default_dtype(given.dtype)
