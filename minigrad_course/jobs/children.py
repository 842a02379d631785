"""Start a process that reads students' texts, and report why it ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

from ..grading.users import remove
from ..running.one_thread import ONE_THREAD
from . import budget
from .record import MOST
from .work import NOT_READ, TOO_DEEP

__all__ = ["lines_from"]

_START = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


def lines_from(module: str, given: dict[str, Any], seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the lines of JSON that a child writes, and `{"ended": why}` if it ends too early.

    The child runs `main` of a module and reads `given` as its first line.
    """
    folder = tempfile.mkdtemp(prefix="minigrad-")
    os.chmod(folder, 0o711)  # graded processes of other users have their folders in it
    environment = {**os.environ, **ONE_THREAD, "TMPDIR": folder, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", _START.format(path=sys.path, module=module)]
    try:
        with tempfile.TemporaryFile() as errors, subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env=environment) as process:
            timer = threading.Timer(seconds, process.kill)
            timer.daemon = True
            timer.start()
            try:
                yield from _lines(process, json.dumps(given).encode() + b"\n")
            finally:
                timer.cancel()
                _end(process)
    finally:
        remove(folder)


def _lines(process: subprocess.Popen[bytes], given: bytes) -> Iterator[dict[str, Any]]:
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(OSError):  # it may have ended already
        process.stdin.write(given)
        process.stdin.flush()
    while line := process.stdout.readline(MOST):
        try:
            read = json.loads(line)
        except ValueError:
            break  # it was killed while it wrote, or wrote too much
        if read == {"done": True}:
            return
        yield read
    _end(process)
    yield {"ended": _why(process.returncode)}


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close a child's input, which ends it and its sandbox; kill it if it goes on."""
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _why(status: int) -> str:
    """Return why a child ended too early."""
    crashes = [-int(getattr(signal, name)) for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL")
               if hasattr(signal, name)]
    if status in crashes or (sys.platform == "win32" and status > 1):
        return f"{NOT_READ}: Python itself crashes on it, probably because {TOO_DEEP}"
    if status == -int(getattr(signal, "SIGXCPU", 0)) and status:
        return (f"{NOT_READ}: it takes more than {budget.SECONDS} seconds; hand in a shorter text, "
                "without tables of values")
    if status == -signal.SIGINT:
        return "it was interrupted"
    if status == -int(getattr(signal, "SIGKILL", 0)) and status:
        return "its process was killed, because it took too long or this machine has no memory left"
    return f"its process ended with status {status}"
