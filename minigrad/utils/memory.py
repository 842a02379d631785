"""How much memory a stretch of a program takes at most: by the arrays' own count, and in all.

NumPy tells Python's `tracemalloc` of every array that it allocates and frees, so the count is exact
to the byte; it holds Python's own objects too, the graph's nodes among them, and it slows Python
down while it runs.  The process's peak costs nothing, and holds everything: the interpreter, the
libraries, what BLAS sets aside.  It does not go down again, except by a reset where the system has
that.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import tracemalloc
from pathlib import Path
from typing import ClassVar, Self

try:
    import resource
except ImportError:  # Windows has none
    resource = None  # type: ignore[assignment]  # a module elsewhere

__all__ = ["peak_memory", "process_peak", "reset_process_peak"]

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")  # where Linux has them


class peak_memory:
    """Count the bytes that are allocated in a `with` block: at most at once, and for longer.

    `peak` is by how much memory grew at most, `kept` what of it is still in use at the end.
    Source: https://docs.python.org/3/library/tracemalloc.html

    >>> from minigrad import zeros
    >>> with peak_memory() as memory:
    ...     x = zeros(1000, 1000).sum()  # 4 MB, of which a number stays
    >>> round(memory.peak / 1e6), round(memory.kept / 1e6)
    (4, 0)
    """

    _open: ClassVar[list[peak_memory]] = []

    def __enter__(self) -> Self:
        self.peak = self.kept = 0
        self._started = not tracemalloc.is_tracing()
        if self._started:
            tracemalloc.start()
        self._before, peak = tracemalloc.get_traced_memory()
        for outer in self._open:  # they have to know what the reset makes forgotten
            outer.peak = max(outer.peak, peak - outer._before)
        tracemalloc.reset_peak()
        self._open.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        now, peak = tracemalloc.get_traced_memory()
        self.peak, self.kept = max(self.peak, peak - self._before), now - self._before
        self._open.remove(self)
        if self._started:
            tracemalloc.stop()


def process_peak() -> int:
    """Return the most bytes of memory that this process had at once, since a reset if there was.

    Raises `RuntimeError` where the system does not tell.

    >>> process_peak() > 1_000_000
    True
    """
    try:  # a child's `ru_maxrss` starts from what its parent had, this does not
        lines = _STATUS.read_text(encoding="ascii").splitlines()
        (line,) = [line for line in lines if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    if resource is None:
        raise RuntimeError("process_peak(): this system does not tell how much memory a process "
                           "had at most")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def reset_process_peak() -> bool:
    """Give free memory back and let `process_peak` start from what is in use; False if it cannot.

    >>> reset_process_peak() in (True, False)
    True
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        pass  # another C library: what it keeps counts as in use
    try:
        _CLEAR.write_text("5", encoding="ascii")  # man 5 proc
    except OSError:
        return False
    return True
