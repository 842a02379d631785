"""Ranges that NVIDIA's profilers show.

Source: https://docs.pytorch.org/docs/stable/cuda.html#nvidia-tools-extension-nvtx
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .devices import backend


def range_push(msg: str) -> None:
    """Open a range inside the current one."""
    backend().cuda.nvtx.RangePush(msg)


def range_pop() -> None:
    """Close the innermost range."""
    backend().cuda.nvtx.RangePop()


def mark(msg: str) -> None:
    """Mark a moment."""
    backend().cuda.nvtx.Mark(msg)


@contextmanager
def range(msg: str) -> Iterator[None]:
    """Open a range for a `with` block."""
    range_push(msg)
    try:
        yield
    finally:
        range_pop()
