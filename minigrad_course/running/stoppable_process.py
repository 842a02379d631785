"""Run a process that can be stopped before it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event


def run_until(command: Sequence[str], folder: Path, environment: Mapping[str, str],
              seconds: float, stop: Event | None = None) -> tuple[int, str]:
    """Run a command; return its exit status and what it wrote to standard error.

    Raises TimeoutExpired after `seconds`.  The process is killed then, when `stop` is set, and when
    this function raises an exception such as KeyboardInterrupt.
    """
    end = time.monotonic() + seconds
    # Use a new session, so that Ctrl-C only reaches the parent, which kills the child.
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
            cwd=folder, env=environment, start_new_session=True) as process:
        try:
            while process.poll() is None:
                if stop is not None and stop.is_set():
                    break
                if time.monotonic() > end:
                    raise subprocess.TimeoutExpired(command, seconds)
                _wait(process, stop)
        finally:
            if process.poll() is None:
                _end(process)
        errors.seek(0)
        return process.returncode, errors.read().decode("utf-8", "replace")


def _wait(process: subprocess.Popen[bytes], stop: Event | None) -> None:
    try:
        process.wait(0.05 if stop is not None else 0.5)
    except subprocess.TimeoutExpired:
        pass


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
