"""Run a process with limits on its resources and output, and kill everything that is left of it."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import IO

if sys.platform != "win32":
    import resource

from .held import Computing, held_by, stored_in

__all__ = ["Ended", "Limits", "run_limited"]

#: Seconds between two checks of the memory that all processes of a run hold together: Linux only
#: limits each process separately.
LOOK = 0.25
#: How many bytes to keep of what a process writes to standard error.
ERRORS = 8000


@dataclass(frozen=True)
class Limits:
    """The limits of one run: time, memory and output."""

    seconds: float = 60
    total: float | None = None  # seconds for all runs of a submission; `None`: 4 times `seconds`
    memory: int = 4 << 30
    file_bytes: int = 16 << 20
    stored_bytes: int = 64 << 20  # in all files together
    output_bytes: int = 4 << 20
    processes: int = 64


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    output: bytes
    errors: bytes
    status: int | None
    reason: str = ""  # why it was killed, if it did not end on its own


def run_limited(command: list[str], environment: dict[str, str], folder: str, job: bytes,
                limits: Limits, user: int | None = None) -> Ended:
    """Run a command in a folder with `job` as its input; root runs it as `user`."""
    if sys.platform == "win32":
        return run_by_files(command, environment, folder, job, limits)

    def prepare() -> None:
        for which, amount in ((resource.RLIMIT_AS, limits.memory),
                              (resource.RLIMIT_FSIZE, limits.file_bytes),
                              (resource.RLIMIT_CPU, int(limits.seconds) + 1),
                              (resource.RLIMIT_CORE, 0),
                              (resource.RLIMIT_NOFILE, 256)):
            _limit(which, amount)
        if user is not None:
            _limit(resource.RLIMIT_NPROC, limits.processes)
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    with tempfile.TemporaryFile() as given:
        given.write(job)
        given.seek(0)
        process = subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment, cwd=folder,
                                   start_new_session=True, preexec_fn=prepare)
        try:
            return _collect(process, limits, user, folder)
        finally:
            _kill(process)


def _limit(which: int, amount: int) -> None:
    """Set a limit, unless a stricter one is set; macOS refuses a limit on memory."""
    _, most = resource.getrlimit(which)
    if most != resource.RLIM_INFINITY:
        amount = min(amount, most)
    try:
        resource.setrlimit(which, (amount, amount))
    except (OSError, ValueError):
        if sys.platform != "darwin":
            raise


def _collect(process: subprocess.Popen[bytes], limits: Limits, user: int | None, folder: str
             ) -> Ended:
    """Read a process's output until it ends or exceeds a limit on time, memory, files or output."""
    assert process.stdout is not None and process.stderr is not None
    now = time.monotonic()
    ends, looks, reason, computing = now + limits.seconds, now + LOOK, "", Computing()
    kept: dict[object, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)  # type: ignore[arg-type]  # a pipe
        while not reason and (selector.get_map() or process.poll() is None):
            now = time.monotonic()
            if now > ends:
                reason = f"it did not end within {limits.seconds:.0f} seconds"
                break
            if now > looks:
                looks = now + LOOK
                computing.look(process.pid, user)
                if held_by(process.pid, user) > limits.memory:
                    reason = f"its processes held more than {limits.memory >> 20} MiB"
                    break
                if stored_in(folder, limits.stored_bytes) > limits.stored_bytes:
                    reason = f"it stored more than {limits.stored_bytes >> 20} MiB in files"
                    break
            if process.poll() is not None and not selector.select(0.2):
                break  # it has ended, although a child may still hold the pipes open
            for key, _ in selector.select(0.2):
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                kept[key.fileobj] += chunk
                if key.fileobj is process.stderr:  # log messages, of which the end is enough
                    del kept[key.fileobj][:-ERRORS]
                elif len(kept[key.fileobj]) > limits.output_bytes:
                    reason = f"it wrote more than {limits.output_bytes} bytes"
    status = None
    if not reason:
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = process.wait(max(0.1, ends - time.monotonic()))
        if status is None:
            reason = f"it did not end within {limits.seconds:.0f} seconds"
    return Ended(bytes(kept[process.stdout]), bytes(kept[process.stderr]), status, reason)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and everything it started that is still in its group."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True,
                       check=False)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def run_by_files(command: list[str], environment: dict[str, str], folder: str, job: bytes,
                 limits: Limits) -> Ended:
    """Run a command like `run_limited`, on a system that cannot wait for pipes.

    The output goes to files. Time and output are limited, memory is not.
    """
    if "SYSTEMROOT" in os.environ:  # Windows cannot start Python without it
        environment = environment | {"SYSTEMROOT": os.environ["SYSTEMROOT"]}
    ends, reason, status = time.monotonic() + limits.seconds, "", None
    with (tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output,
          tempfile.TemporaryFile() as errors):
        given.write(job)
        given.seek(0)
        process = subprocess.Popen(command, stdin=given, stdout=output, stderr=errors,
                                   env=environment, cwd=folder, start_new_session=True)
        try:
            while status is None and not reason:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(0.1)
                if _size(output) > limits.output_bytes:
                    reason = f"it wrote more than {limits.output_bytes} bytes"
                elif _size(errors) > limits.stored_bytes:  # log messages are no reason to stop
                    reason = f"it wrote more than {limits.stored_bytes} bytes to standard error"
                elif status is None and time.monotonic() > ends:
                    reason = f"it did not end within {limits.seconds:.0f} seconds"
        finally:
            _kill(process)
        texts = []
        for file in (output, errors):
            file.seek(0 if file is output else max(0, _size(file) - ERRORS))
            texts.append(file.read(limits.output_bytes))
    return Ended(texts[0], texts[1], None if reason else status, reason)


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size
