"""Peak memory of a block of code, as allocated by Python and NumPy, or of the process.

NumPy reports every allocation to Python's `tracemalloc`, so the count is exact to the byte.  It
includes Python objects such as the graph's nodes, and it slows Python down while it runs.  The peak
of the process costs nothing and includes everything: the interpreter, the libraries, the buffers of
BLAS. It never decreases, except by a reset on systems that support one.
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
except ImportError:  # not available on Windows
    resource = None  # type: ignore[assignment]  # a module elsewhere

__all__ = ["peak_memory", "process_peak", "reset_process_peak"]

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")  # where Linux has them


class peak_memory:
    """Measure the memory allocated in a `with` block: its peak, and what remains at the end.

    `peak` is the largest growth of memory, `kept` the growth that is still in use at the end.
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
        for outer in self._open:  # outer blocks need the peak that the reset drops
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
    """Return the peak memory of this process in bytes, since its start or the last reset.

    Raises `RuntimeError` on systems that do not report it.

    >>> process_peak() > 1_000_000
    True
    """
    try:  # unlike `ru_maxrss`, it does not start from the parent's peak
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
    """Release free memory and restart `process_peak`; return False if that is impossible.

    >>> reset_process_peak() in (True, False)
    True
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        pass  # another C library: its free memory counts as in use
    try:
        _CLEAR.write_text("5", encoding="ascii")  # man 5 proc
    except OSError:
        return False
    return True
