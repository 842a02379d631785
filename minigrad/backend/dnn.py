"""Whether cuDNN is there, and the switches of `torch.backends.cudnn`.

Source: https://docs.pytorch.org/docs/stable/backends.html#torch-backends-cudnn
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any


class Switches:
    """How convolutions on a GPU are chosen; the environment's MINIGRAD_CUDNN=0 turns cuDNN off."""

    def __init__(self) -> None:
        self.enabled = os.environ.get("MINIGRAD_CUDNN", "") != "0"
        #: whether all plans for a new shape are timed, and the fastest is kept
        self.benchmark = False
        #: whether only plans are taken that give the same bits each time
        self.deterministic = False
        #: whether float32 may be rounded to 10 bits on its way into a product
        self.allow_tf32 = True

    def key(self) -> tuple[bool, bool, bool]:
        """Return what a plan depends on."""
        return self.benchmark, self.deterministic, self.allow_tf32


switches = Switches()


@cache
def library() -> Any:
    """Return NVIDIA's frontend of cuDNN; None where it, or cuDNN itself, is not installed."""
    try:
        found = import_module("cudnn")
        found.backend_version()
    except (ImportError, OSError, RuntimeError):
        return None
    return found
