"""Keep freed memory for later arrays instead of returning it to the system.

NOTE [The cost of returning memory]
    When a few megabytes are free at the top of its heap, glibc returns them to the system.  A
    training step frees all its activations, and the next step needs the same amount again; the
    system then provides new pages one by one and fills each with zeros.  This took a third of the
    time of an LSTM's step.  So this process keeps up to `KEPT` bytes; the peak is the same.
    `MINIGRAD_KEEP_MEMORY=0` in the environment turns this off. It has no effect with other C
    libraries, or with a preloaded allocator.

Source: https://man7.org/linux/man-pages/man3/mallopt.3.html
"""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["keep_freed_memory"]

#: Maximum memory that the process keeps, in bytes.
KEPT = 256 << 20
#: Larger blocks are mapped individually and returned when freed; glibc's own upper limit.
MAPPED = 32 << 20

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # from malloc.h


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory; return False if it cannot, or if this is turned off.

    >>> keep_freed_memory() in (True, False)
    True
    """
    if os.environ.get("MINIGRAD_KEEP_MEMORY") == "0" or not sys.platform.startswith("linux"):
        return False
    try:
        library = ctypes.CDLL(None)
        _ = library.gnu_get_libc_version  # in other C libraries mallopt may mean something else
        return bool(library.mallopt(_MMAP_THRESHOLD, MAPPED)
                    and library.mallopt(_TRIM_THRESHOLD, KEPT))
    except (OSError, AttributeError):
        return False
