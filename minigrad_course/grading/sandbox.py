"""Running somebody's code with as little in reach as this system allows.

NOTE [What a sandbox promises]
    Everywhere: limits on time, memory (on Linux that of all its processes taken together, too),
    size of files and of output; a process group that is killed whole; an empty environment; no
    standard input but the job.
    With bubblewrap: no network, no other process in sight, no file but Python's own, NumPy's,
    pytest's and the bundle, nothing writable but a small folder in memory, few processes.
    As root without bubblewrap: a user of its own, who can read the bundle and what everybody can,
    write to no file of anybody else, and have few processes; all of them are ended with the run.
    As anybody else without bubblewrap: the limits alone.  `Sandbox.kept` says which it is.

NOTE [Few processes]
    Linux counts processes by user, and does not count root's.  So whoever grades as root gives each
    run a user of its own, inside bubblewrap too: it starts there as root, because only root sees
    a Python that lies in root's home, and becomes that user before anything else.  With a user
    for each run the limit counts that run alone, and runs side by side cannot touch each other.
    For anybody else, and where root may not do that, bubblewrap makes a user namespace, in which
    Linux counts by itself from 5.14 on; in older ones, and for real root in such a namespace, the
    time limit is what ends a fork bomb.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

if sys.platform != "win32":
    import fcntl

from ..stages import CourseError
from .process import Ended, Limits, run_limited

__all__ = ["Ended", "Limits", "Sandbox", "best_sandbox"]

#: What a graded process may import besides the standard library and the bundle.
LIBRARIES = ("numpy", "numpy.libs", "pytest", "_pytest", "py.py", "pluggy", "iniconfig",
             "packaging", "pygments", "ml_dtypes")

#: The users for graded processes where root grades: of no account, and of no service's either
#: (https://systemd.io/UIDS-GIDS/).
USERS = range(60_706, 61_184)


#: Seconds to find out whether a kind of sandbox works.
CHECK = 120


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
        with tempfile.TemporaryDirectory(prefix="minigrad-") as scratch, _user() as user:
            command, environment = self._command(bundle, Path(scratch), words, user, limits)
            if self.kind != "user":
                return run_limited(command, environment, scratch, job, limits)
            os.chown(scratch, user, user)
            try:
                return run_limited(command, environment, scratch, job, limits, user)
            finally:
                _end_all_of(user)

    def _command(self, bundle: Path, scratch: Path, words: Sequence[str], user: int, limits: Limits
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
        users = _gives_users()
        text = _first(users, user, limits) + start.format(libraries="/libraries", child=child,
                                                          words=[child, *words])
        return [*_bubblewrap(users), "--ro-bind", str(bundle), "/bundle", "--remount-ro", "/", "--",
                str(Path(sys.executable).resolve()), "-I", "-S", "-B", "-c", text], environment


def _bubblewrap(users: bool) -> list[str]:
    """Return the command that starts a sandbox, up to what it runs.

    With `users` it starts as root and can become another user, without a user namespace.
    """
    arguments = ["bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if users:
        arguments += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
                      "--unshare-cgroup-try", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID",
                      "--perms", "1777"]  # of /tmp
    else:
        arguments += ["--unshare-all"]
    if _sizes_are_known():
        arguments += ["--size", str(64 << 20)]
    arguments += ["--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/libraries",
                  "--chdir", "/tmp"]
    for path in _system_paths():
        for folder in reversed(Path(path).parents[:-1]):  # otherwise they are the starter's alone
            arguments += ["--dir", str(folder)]
        arguments += ["--ro-bind", path, path]
    for site in _site_folders():
        arguments += ["--tmpfs", site]
    for name, path in _libraries():
        arguments += ["--ro-bind", path, f"/libraries/{name}"]
    for place in ("/dev", "/libraries", *_site_folders()):
        arguments += ["--remount-ro", place]
    return arguments


@cache
def _sizes_are_known() -> bool:
    """Whether this bubblewrap can limit a folder in memory, as it can from 0.7 on."""
    return b"--size" in subprocess.run(["bwrap", "--help"], capture_output=True, check=False).stdout


def _first(users: bool, user: int, limits: Limits) -> str:
    """Return what a process in bubblewrap does first: it becomes its user, and counts from then."""
    text = ""
    if users:
        text = (f"import os; os.setgroups([]); os.setresgid({user}, {user}, {user}); "
                f"os.setresuid({user}, {user}, {user}); ")
    elif not _counts_in_namespaces():
        return text
    return text + (f"import resource; resource.setrlimit(resource.RLIMIT_NPROC, "
                   f"({limits.processes}, {limits.processes})); ")


def _counts_in_namespaces() -> bool:
    """Whether this Linux counts the processes of a user namespace by themselves."""
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (5, 14)


_users_lock = threading.Lock()
_users_free = deque(USERS)


@contextlib.contextmanager
def _user() -> Iterator[int]:
    """Give a user that no other run has at the time, and that none had for as long as can be."""
    with _users_lock:
        user = next((each for each in list(_users_free) if _taken(each)), None)
        if user is None:
            raise CourseError(f"all users from {USERS[0]} to {USERS[-1]} are taken by other runs")
        _users_free.remove(user)
    try:
        yield user
    finally:
        with _users_lock:
            _users_free.append(user)
            _give_back(user)


@cache
def _lock_file() -> int | None:
    """Return a file in which each user is one byte to lock, against other gradings by root."""
    path = os.path.join(tempfile.gettempdir(), "minigrad-users")
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def _taken(user: int) -> bool:
    """Take a user; False where another grading has it."""
    if sys.platform != "win32" and os.geteuid() == 0 and (file := _lock_file()) is not None:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, user)
        except OSError:
            return False
    return True


def _give_back(user: int) -> None:
    if sys.platform != "win32" and os.geteuid() == 0 and (file := _lock_file()) is not None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, user)


def _end_all_of(user: int) -> None:
    """End whatever a user's processes have left, in sessions of their own too."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(["/bin/sh", "-c", "kill -9 -1"], user=user, group=user, extra_groups=[],
                       capture_output=True, cwd="/", timeout=20, check=False)


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


@cache
def best_sandbox(required: bool = False) -> Sandbox:
    """Return the strongest sandbox that works here.

    With `required`, CourseError where it keeps neither files nor the network out of reach.
    """
    if shutil.which("bwrap") is not None and (_gives_users() or _bubblewrap_works(users=False)):
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
        done = subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], user=USERS[0],
                              group=USERS[0], extra_groups=[], capture_output=True, cwd="/",
                              timeout=CHECK, check=False)
    except subprocess.TimeoutExpired:
        raise _busy() from None
    except OSError:
        return False
    return done.returncode == 0


def _busy() -> CourseError:
    """Make the error for a check that takes too long: a weaker sandbox is no answer to that."""
    return CourseError(f"whether a sandbox works here was not known after {CHECK} seconds: this "
                       "machine is too busy; grade again later")


def _bubblewrap_works(users: bool) -> bool:
    """Whether bubblewrap works here, often not in containers, and NumPy can be used in it."""
    text = (_first(users, USERS[0], Limits())
            + "import sys; sys.path.append('/libraries'); import numpy, pytest")
    python = str(Path(sys.executable).resolve())
    try:
        done = subprocess.run([*_bubblewrap(users), "--", python, "-I", "-S", "-B", "-c", text],
                              capture_output=True, timeout=CHECK, check=False)
    except subprocess.TimeoutExpired:
        raise _busy() from None
    except OSError:
        return False
    return done.returncode == 0


@cache
def _gives_users() -> bool:
    """Whether each run can have a user of its own in bubblewrap."""
    return os.geteuid() == 0 and _bubblewrap_works(users=True)
