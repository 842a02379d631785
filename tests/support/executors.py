"""Executors for `--executor`."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

__all__ = ["processes", "threads"]


def threads() -> ThreadPoolExecutor:
    """Return an executor with two threads."""
    return ThreadPoolExecutor(2)


def processes() -> ProcessPoolExecutor:
    """Return an executor with two new processes, as on another machine."""
    return ProcessPoolExecutor(2, get_context("spawn"))


def no_executor() -> object:
    """Return an object that is no executor."""
    return sys
