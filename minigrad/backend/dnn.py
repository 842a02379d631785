"""Availability of cuDNN, and the switches of `torch.backends.cudnn`.

Source: https://docs.pytorch.org/docs/stable/backends.html#torch-backends-cudnn
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any


class Switches:
    """Options for convolutions on a GPU; MINIGRAD_CUDNN=0 in the environment turns cuDNN off."""

    def __init__(self) -> None:
        self.enabled = os.environ.get("MINIGRAD_CUDNN", "") != "0"
        #: if True, time all plans for a new shape and keep the fastest
        self.benchmark = False
        #: if True, use only plans that give the same bits each time
        self.deterministic = False
        #: if True, products may round float32 to 10 bits
        self.allow_tf32 = True

    def key(self) -> tuple[bool, bool, bool]:
        """Return the settings that a plan depends on."""
        return self.benchmark, self.deterministic, self.allow_tf32


switches = Switches()


@cache
def library() -> Any:
    """Return NVIDIA's frontend of cuDNN, or `None` unless it and cuDNN are installed."""
    try:
        found = import_module("cudnn")
        found.backend_version()
    except (ImportError, OSError, RuntimeError):
        return None
    return found
