"""Whether convolutions on a GPU use cuDNN, and how it chooses among its kernels.

You can set four attributes: `enabled`, whether to use cuDNN at all; `benchmark`, whether to time
its plans for a new shape; `deterministic`, whether to use only plans that give the same bits each
time; and `allow_tf32`, whether float32 may be rounded to 10 bits in products.

Source: https://docs.pytorch.org/docs/stable/backends.html#torch-backends-cudnn
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..backend.dnn import library, switches

__all__ = ["allow_tf32", "benchmark", "deterministic", "enabled", "flags", "is_available",
           "version"]

enabled: bool
benchmark: bool
deterministic: bool
allow_tf32: bool


def is_available() -> bool:
    """Return whether cuDNN and NVIDIA's frontend for it are installed.

    >>> isinstance(is_available(), bool)
    True
    """
    return library() is not None


def version() -> int | None:
    """Return cuDNN's version as a number, 91002 for 9.10.2, or `None` if it is not installed.

    >>> from minigrad.backends import cudnn
    >>> (cudnn.version() is None) == (not cudnn.is_available())  # 91002 is version 9.10.2
    True
    """
    found = library()
    return None if found is None else int(found.backend_version())


@contextmanager
def flags(enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10,
          deterministic: bool = False, allow_tf32: bool = True, **others: Any) -> Iterator[None]:
    """Set all options within a `with` block; `benchmark_limit` and others are ignored.

    >>> from minigrad.backends import cudnn
    >>> with cudnn.flags(enabled=False):
    ...     cudnn.enabled
    False
    """
    before = dict(vars(switches))
    vars(switches).update(enabled=enabled, benchmark=benchmark, deterministic=deterministic,
                          allow_tf32=allow_tf32)
    try:
        yield
    finally:
        vars(switches).update(before)


class Module(ModuleType):
    """This module, with the options as its attributes."""

    def __getattr__(self, name: str) -> Any:
        if name in vars(switches):
            return vars(switches)[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(switches):
            vars(switches)[name] = bool(value)
        else:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = Module
