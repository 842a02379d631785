"""`torch.return_types`: the named tuples in which functions return several results.

>>> import minigrad as torch
>>> isinstance(torch.ones(2).max(0), torch.return_types.max)
True
"""

from __future__ import annotations

from typing import Any

from .op.results import RESULTS
from .ops import load_all

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        load_all()
        if name in RESULTS:
            return RESULTS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    load_all()
    return sorted(name for name in RESULTS if not name.startswith("_"))
