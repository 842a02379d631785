"""Freed memory kept for the next arrays, where the C library would give it back to the system.

NOTE [Why a training pays for memory again and again]
    glibc gives memory that is freed at the top of its heap back to the system as soon as it is
    some megabytes.  A training frees all its activations after each step and wants as much in the
    next one; the system hands it out page by page, each of them filled with zeros at the first
    touch.  That was a third of the time of a step of an LSTM.  So up to `KEPT` bytes stay, for
    this process; the peak is the same.  `MINIGRAD_KEEP_MEMORY=0` in the environment leaves the
    C library as it is, and so do other C libraries, and an allocator that the user preloads.

Source: https://man7.org/linux/man-pages/man3/mallopt.3.html
"""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["keep_freed_memory"]

#: What stays with the process, in bytes.
KEPT = 256 << 20
#: Larger blocks are mapped one by one and given back when freed; glibc's own upper limit.
MAPPED = 32 << 20

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory; False where it has no such setting, or is told not to.

    >>> keep_freed_memory() in (True, False)
    True
    """
    if os.environ.get("MINIGRAD_KEEP_MEMORY") == "0" or not sys.platform.startswith("linux"):
        return False
    try:
        library = ctypes.CDLL(None)
        _ = library.gnu_get_libc_version  # others than glibc may have a mallopt of other meaning
        return bool(library.mallopt(_MMAP_THRESHOLD, MAPPED)
                    and library.mallopt(_TRIM_THRESHOLD, KEPT))
    except (OSError, AttributeError):
        return False
