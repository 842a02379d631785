"""minigrad and PyTorch in turns: results are compared first, then each round gives a ratio."""

from __future__ import annotations

import gc
import math
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from _harness import Worker

#: Variables that choose OpenBLAS's kernels; most machines don't set them.
UNPINNED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def pair(script: str, threads: int = 1) -> tuple[Worker, Worker]:
    """Start two workers of a script: minigrad's and PyTorch's."""
    return (Worker(script, "minigrad", threads=threads, without=UNPINNED),
            Worker(script, "torch", threads=threads, without=UNPINNED))


def fastest(step: Callable[[], Any]) -> float:
    """Return the least processor time of a step, in seconds: of nine, or as many as 50 ms allow."""
    once = timed(step)
    return min(timed(step) for _ in range(max(1, min(9, int(0.05 / once)))))


def timed(step: Callable[[], Any]) -> float:
    """Return the processor's seconds that a step takes here and in processes that it starts."""
    started = processor_time()
    step()
    return processor_time() - started


def processor_time() -> float:
    """The processor's seconds so far, which don't depend on what else the machine does."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def check(title: str, results: Sequence[Iterable[float]], scale: float = 1) -> None:
    """End the program if two libraries computed different numbers.

    They may differ by a thousandth, or by a hundred-thousandth of `scale`.
    """
    for a, b in zip(*results, strict=True):
        if not math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-5 * scale):
            raise SystemExit(f"{title}: minigrad computes {results[0]}, PyTorch {results[1]}")


def measure(workers: tuple[Worker, Worker], request: Mapping[str, Any],
            rounds: int) -> dict[str, float]:
    """Ask both for their seconds in turns; return the median ratio and the median times."""
    times = [[worker.ask(request) for worker in workers] for _ in range(rounds)]
    return {"ratio": statistics.median(a / b for a, b in times),
            "minigrad": statistics.median(a for a, _ in times),
            "pytorch": statistics.median(b for _, b in times)}


def settle() -> None:
    """Collect what an earlier case left behind, so that this one doesn't pay for it."""
    gc.collect()
