"""The process in which a job runs; limited.py starts it and reads its lines.

The first line of its input is the job.  If the input ends later, its parent has gone, so it stops.
"""

from __future__ import annotations

import _thread
import gc
import json
import os
import sys
import threading
from typing import Any

from ..grading.primed import prime
from . import budget
from .job import Job
from .work import NOT_READ, TOO_DEEP, TOO_LARGE, steps

__all__ = ["main"]


def main() -> None:
    """Do the job that the input describes, and write each result as a line of JSON."""
    given = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_watch, daemon=True).start()
    prime(given["primed"])
    job = Job.from_dict(given["job"])
    budget.limit_memory_and_depth()
    gc.disable()  # it would walk the syntax tree of a long text again and again
    try:
        for result in steps(job, budget.Metered(given["sandbox"]), given["start"]):
            if "begins" in result:
                budget.limited_time()
            _write(result)
    except (RecursionError, MemoryError) as error:
        why = TOO_DEEP if isinstance(error, RecursionError) else TOO_LARGE
        _write({"ended": f"{NOT_READ}: {why}"})
    _write({"done": True})


def _write(result: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(result).encode() + b"\n")
    sys.stdout.buffer.flush()


def _watch() -> None:
    """End this process once its parent is gone, and with it the sandbox that it waits for."""
    while os.read(0, 65536):
        pass
    _thread.interrupt_main()
