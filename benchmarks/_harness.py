"""Side-by-side measuring: every engine in a process of its own, every round kept.

Two thread pools in one process distort each other many times over, so engines never share one.
A worker answers one JSON request per line; the parent asks the engines in turn (A B C A B C ...),
so that whatever else the machine does falls on all of them alike.
"""

from __future__ import annotations

import datetime
import importlib
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")


def from_package(engine: str, path: str) -> Any:
    """Return the module at a path; for PyTorch the same source, with `torch` imported."""
    if engine == "minigrad":
        return importlib.import_module(path.removesuffix(".py").replace("/", "."))
    sys.path.insert(0, str(ROOT))
    return importlib.import_module("tests.support.with_torch").with_torch(path)


class Unavailable(Exception):
    """An engine cannot do what was asked; the message says why."""


class Worker:
    """One engine in a process of its own, started as ``script --worker engine``.

    It runs on `threads` threads and does not see the environment variables named in `without`.

    >>> with Worker("benchmarks/op_overhead.py", "pytorch") as worker:
    ...     worker.ask({"task": "hello"})  # doctest: +SKIP
    """

    def __init__(self, script: str | Path, engine: str, timeout: float = 300.0, threads: int = 1,
                 without: Sequence[str] = ()) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in without}
        paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])
        self.timeout = timeout
        self.process = subprocess.Popen(
            [sys.executable, str(script), "--worker", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**inherited, **dict.fromkeys(THREADS, str(threads)),
                 "PYTHONPATH": os.pathsep.join(paths)},
        )
        # Read all along: a chatty engine would otherwise fill the pipe and stop.
        self.complaints: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.complaints.extend(line.strip() for line in self.process.stderr if line.strip())

    def ask(self, request: Mapping[str, Any]) -> Any:
        """The worker's answer to one request; raises Unavailable with the reason if none comes."""
        assert self.process.stdin is not None and self.process.stdout is not None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            self.process.kill()

        alarm = threading.Timer(self.timeout, expire)
        alarm.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            alarm.cancel()
        if not line:
            raise Unavailable(self._cause_of_death(expired.is_set()))
        reply = json.loads(line)
        if "error" in reply:
            raise Unavailable(reply["error"])
        return reply["answer"]

    def _cause_of_death(self, expired: bool) -> str:
        status = self.process.wait()
        if expired:
            return f"no answer within {self.timeout:g} s"
        if status < 0:
            return f"process ended by {signal.Signals(-status).name}"
        self._listener.join(timeout=5)
        return (self.complaints or [f"process ended with status {status}"])[-1]

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; one that was killed or has crashed already is fine too."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._listener.join(timeout=5)
        self.process.stdout.close()
        if self.process.stderr is not None:
            self.process.stderr.close()


def serve(answer: Callable[[dict[str, Any]], Any]) -> None:
    """The worker's side: answer each request on standard input until it closes."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # an engine's prints must not mix with them
    for line in sys.stdin:
        try:
            reply = {"answer": answer(json.loads(line))}
        except Exception as error:  # the parent reports it beside the other engines' results
            text = " ".join(str(error).split())
            known = isinstance(error, Unavailable)
            reply = {"error": text if known else f"{type(error).__name__}: {text}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def resident_bytes() -> int | None:
    """Resident memory of this process; None where the system has no ``/proc``."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def now() -> str:
    """The date and time in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def machine() -> dict[str, Any]:
    """What a reader needs to judge the figures: processor, cores, system, Python, load."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": usable,
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def paired_ratios(
    rounds: Iterable[Mapping[str, float]], engine: str, reference: str
) -> list[float]:
    """``engine / reference`` for each round that has both.

    >>> paired_ratios([{"a": 1.0, "b": 2.0}, {"a": 3.0}], "a", "b")
    [0.5]
    """
    return [
        values[engine] / values[reference]
        for values in rounds
        if engine in values and reference in values
    ]


def summary(
    rounds: Sequence[Mapping[str, float]], engines: Iterable[str], reference: str
) -> dict[str, dict[str, Any]]:
    """Each engine's median over the rounds and the median and range of its paired ratios."""
    result: dict[str, dict[str, Any]] = {}
    for engine in engines:
        values = [each[engine] for each in rounds if engine in each]
        ratios = paired_ratios(rounds, engine, reference)
        result[engine] = {
            "median": statistics.median(values) if values else None,
            "ratio": statistics.median(ratios) if ratios else None,
            "ratio_range": [min(ratios), max(ratios)] if ratios else None,
        }
    return result


def table(rows: Sequence[Sequence[str]]) -> str:
    """Plain text with the first column left-aligned and the others right-aligned.

    >>> print(table([["op", "time"], ["add", "1.0"]]))
    op   time
    add   1.0
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    )


def progress(text: str) -> None:
    """One line on standard error that rewrites itself on a terminal and stays quiet in a log."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def write_json(path: Path, report: Mapping[str, Any]) -> None:
    """Write a report, making its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
