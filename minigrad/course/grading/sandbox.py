"""Running somebody's code with as little in reach as this system allows.

NOTE [What a sandbox promises]
    Everywhere: limits on time, memory, size of files and of output; a process group that is killed
    whole; an empty environment; no standard input but the job.
    With bubblewrap: no network, no other process in sight, no file but Python's own, NumPy's,
    pytest's and the bundle, nothing writable but a folder in memory.
    As root without bubblewrap: a user of its own, who can read the bundle and what everybody can,
    write to no file of anybody else, and have few processes.
    As anybody else without bubblewrap: the limits alone.  `Sandbox.kept` says which it is.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..stages import CourseError

__all__ = ["Ended", "Limits", "Sandbox", "best_sandbox"]

#: What a graded process may import besides the standard library and the bundle.
LIBRARIES = ("numpy", "numpy.libs", "pytest", "_pytest", "py.py", "pluggy", "iniconfig",
             "packaging", "pygments", "ml_dtypes")

#: The user for graded processes where there is no bubblewrap: nobody's, and no real account's.
USER = 61_327


@dataclass(frozen=True)
class Limits:
    """What one run may take."""

    seconds: float = 60
    memory: int = 4 << 30
    file_bytes: int = 16 << 20
    output_bytes: int = 4 << 20
    processes: int = 64


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    output: bytes
    errors: bytes
    status: int | None
    reason: str = ""  # why it was ended, where it did not end by itself


@dataclass(frozen=True)
class Sandbox:
    """A way to run things, and what it keeps from them."""

    kind: str  # "bubblewrap", "user" or "limits"

    @property
    def kept(self) -> str:
        """What this sandbox promises, in one sentence."""
        return {
            "bubblewrap": "no network, no other files or processes, and limits",
            "user": "a user of its own, to whom results and solutions are unreadable, and limits; "
                    "the network can be reached",
            "limits": "limits alone: the code can read what you can read, and reach the network",
        }[self.kind]

    def run(self, bundle: Path, words: Sequence[str], job: bytes, limits: Limits) -> Ended:
        """Run `child.py` of a bundle with `words`, and `job` as its input."""
        with tempfile.TemporaryDirectory(prefix="minigrad-") as scratch:
            if self.kind == "user":
                os.chown(scratch, USER, USER)
            command, environment = self._command(bundle, Path(scratch), words)
            return _run(command, environment, scratch, job, limits, self.kind == "user")

    def _command(self, bundle: Path, scratch: Path, words: Sequence[str]
                 ) -> tuple[list[str], dict[str, str]]:
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8",
                       "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
                       "PYTHONDONTWRITEBYTECODE": "1"}
        start = ("import sys, runpy; sys.path.append({libraries!r}); sys.argv = {words!r}; "
                 "runpy.run_path({child!r}, run_name='__main__')")
        if self.kind != "bubblewrap":
            environment |= {"HOME": str(scratch), "TMPDIR": str(scratch)}
            child = str(bundle / "child.py")
            text = start.format(libraries=sysconfig.get_path("platlib"), child=child,
                                words=[child, *words])
            return [sys.executable, "-I", "-S", "-B", "-c", text], environment
        child = "/bundle/child.py"
        text = start.format(libraries="/libraries", child=child, words=[child, *words])
        arguments = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session",
                     "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
                     "--tmpfs", "/libraries", "--chdir", "/tmp"]
        for path in _system_paths():
            arguments += ["--ro-bind", path, path]
        for site in _site_folders():
            arguments += ["--tmpfs", site]
        for name, path in _libraries():
            arguments += ["--ro-bind", path, f"/libraries/{name}"]
        python = str(Path(sys.executable).resolve())
        return [*arguments, "--ro-bind", str(bundle), "/bundle", "--",
                python, "-I", "-S", "-B", "-c", text], environment


@cache
def _system_paths() -> list[str]:
    """Python's own folders and what programs are linked with."""
    wanted = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache",
              sys.base_prefix, str(Path(sys.executable).resolve())]
    found = [path for path in wanted if os.path.exists(path)]
    return [path for path in found
            if not any(path != other and Path(path).is_relative_to(other) for other in found)
            or path in ("/lib", "/lib64")]


@cache
def _site_folders() -> list[str]:
    """Folders of installed packages inside the system's paths; they are hidden."""
    patterns = [f"{start}python*/{name}" for start in ("", "lib/", "lib64/")
                for name in ("site-packages", "dist-packages")]
    inside = {path.resolve() for base in _system_paths() for pattern in patterns
              for path in Path(base).glob(pattern)}
    return sorted(str(path) for path in inside)


@cache
def _libraries() -> list[tuple[str, str]]:
    """Where the libraries are that a graded process may use."""
    found = []
    for name in LIBRARIES:
        path = Path(sysconfig.get_path("platlib")) / name
        if not path.exists() and "." not in name and (spec := find_spec(name)) is not None \
                and spec.submodule_search_locations:
            path = Path(next(iter(spec.submodule_search_locations)))
        if path.exists():
            found.append((name, str(path)))
    return found


def _run(command: list[str], environment: dict[str, str], folder: str, job: bytes, limits: Limits,
         change_user: bool) -> Ended:
    def prepare() -> None:
        for which, amount in ((resource.RLIMIT_AS, limits.memory),
                              (resource.RLIMIT_FSIZE, limits.file_bytes),
                              (resource.RLIMIT_CPU, int(limits.seconds) + 1),
                              (resource.RLIMIT_CORE, 0),
                              (resource.RLIMIT_NOFILE, 256)):
            resource.setrlimit(which, (amount, amount))
        if change_user:
            resource.setrlimit(resource.RLIMIT_NPROC, (limits.processes, limits.processes))
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)

    with tempfile.TemporaryFile() as given:
        given.write(job)
        given.seek(0)
        process = subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment, cwd=folder,
                                   start_new_session=True, preexec_fn=prepare)
        try:
            return _collect(process, limits)
        finally:
            _kill(process)


def _collect(process: subprocess.Popen[bytes], limits: Limits) -> Ended:
    """Read what a process writes until it ends, takes too long or writes too much."""
    assert process.stdout is not None and process.stderr is not None
    ends, reason = time.monotonic() + limits.seconds, ""
    kept: dict[object, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)  # type: ignore[arg-type]  # a pipe
        while selector.get_map() and not reason:
            if time.monotonic() > ends:
                reason = f"it did not end within {limits.seconds:.0f} seconds"
                break
            if process.poll() is not None and not selector.select(0.2):
                break  # it is gone, though a child of its may hold the pipes
            for key, _ in selector.select(0.2):
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                kept[key.fileobj] += chunk
                if len(kept[key.fileobj]) > limits.output_bytes:
                    reason = f"it wrote more than {limits.output_bytes} bytes"
    status = None
    if not reason:
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = process.wait(max(0.1, ends - time.monotonic()))
        if status is None:
            reason = f"it did not end within {limits.seconds:.0f} seconds"
    return Ended(bytes(kept[process.stdout]), bytes(kept[process.stderr])[-8000:], status, reason)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started and left in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@cache
def best_sandbox(required: bool = False) -> Sandbox:
    """Return the strongest sandbox that works here.

    With `required`, CourseError where it keeps neither files nor the network out of reach.
    """
    if shutil.which("bwrap") is not None and _bubblewrap_works():
        return Sandbox("bubblewrap")
    if os.name == "posix" and os.geteuid() == 0 and _user_works():
        if required:
            raise CourseError("bubblewrap does not work here, and without it the network can be "
                              "reached; install bubblewrap or leave out --require-sandbox")
        return Sandbox("user")
    if required:
        raise CourseError("there is no bubblewrap here (the command bwrap), so what is graded "
                          "could read your files; install it or leave out --require-sandbox")
    return Sandbox("limits")


def _user_works() -> bool:
    """Whether another user can start this Python; not where it lies in root's own folder."""
    try:
        done = subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], user=USER, group=USER,
                              extra_groups=[], capture_output=True, cwd="/", timeout=20,
                              check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _bubblewrap_works() -> bool:
    """Whether this system lets bubblewrap make namespaces; containers often do not."""
    paths = [word for path in _system_paths() for word in ("--ro-bind", path, path)]
    python = str(Path(sys.executable).resolve())
    try:
        done = subprocess.run(["bwrap", "--unshare-all", *paths, "--proc", "/proc", "--dev", "/dev",
                               "--", python, "-I", "-S", "-c", "pass"],
                              capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
