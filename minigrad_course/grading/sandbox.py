"""Run untrusted code with as little access as this system allows.

NOTE [What a sandbox promises]
    On every system: limits on time, memory (on Linux also for all processes together), file sizes
    and output; the whole process group is killed at the end; an empty environment; no standard
    input except the job.
    With bubblewrap: no network, no other visible processes, no files except the bundle and what
    reach.py lists, no writable folder except a small tmpfs, few processes.
    As root without bubblewrap: a separate user and few processes; all of them are killed at the end
    of the run, and their files are removed.  As any other user without bubblewrap: the grader's own
    user.  In both cases, no network and no signals to others (confine.py), and if Linux has
    Landlock, the same files as with bubblewrap.
    On other systems only the limits hold.  `Sandbox.kept` says which case applies.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import minigrad

from ..content.stages import CourseError
from ..running.one_thread import ONE_THREAD
from . import confine
from .bubblewrap import become_user, bubblewrap, limit_processes
from .held import tasks_of
from .process import Ended, Limits, run_limited
from .reach import (
    inside_library,
    interpreter,
    libraries,
    refuse_answers,
    shared_libraries,
    standard_library,
)
from .users import USERS, end_all_of, remove_files_of, scratch_folder, user_for_a_run

__all__ = ["METHODS", "Ended", "Limits", "Sandbox", "best_sandbox", "gives_users", "works"]

#: Another process's answer to `gives_users`; see primed.py.
known_to_give_users: list[bool] = []

#: Seconds to find out whether a kind of sandbox works.
CHECK = 120
#: Set this variable to allow grading as root with limits alone.
ANY = "MINIGRAD_ANY_SANDBOX"

#: The folder of the libraries in bubblewrap.
INSIDE = "/libraries"
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")


@dataclass(frozen=True)
class Sandbox:
    """A way to run code, and what it denies that code."""

    method: str  # one of METHODS

    @property
    def kept(self) -> str:
        """The sandbox's promises, in one line."""
        return {
            "bubblewrap": "no network, no other files or processes, and limits",
            "user": "a separate user, no network, no private files, and limits",
            "landlock": "no network, no files but Python's own, no signals to others, and limits",
            "limits": "only limits: the code can read what you can read, and use the network",
        }[self.method]

    def run(self, bundle: Path, words: Sequence[str], job: bytes, limits: Limits) -> Ended:
        """Run `child.py` of a bundle with `words` as its arguments and `job` as its input."""
        with scratch_folder() as scratch, user_for_a_run() as user:
            _link_libraries(bundle)
            command, environment = self._command(bundle, Path(scratch), words, user, limits)
            if self.method == "user" or (self.method == "bubblewrap" and gives_users()):
                os.chown(bundle, -1, user)  # only this run may read it
                os.chmod(bundle, 0o750)
            if self.method != "user":
                return run_limited(command, environment, scratch, job, limits)
            os.chown(scratch, user, user)
            try:
                return run_limited(command, environment, scratch, job, limits, user)
            finally:
                end_all_of(user)
                remove_files_of(user)

    def _command(self, bundle: Path, scratch: Path, words: Sequence[str], user: int, limits: Limits
                 ) -> tuple[list[str], dict[str, str]]:
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8",
                       **ONE_THREAD, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        inside = self.method == "bubblewrap"
        if not inside:
            environment |= {"HOME": str(scratch), "TMPDIR": str(scratch)}
        child = "/bundle/child.py" if inside else str(bundle / "child.py")
        packages = INSIDE if inside else str(bundle / "libraries")
        start = (f"import sys, runpy; sys.path.append({packages!r})\n"
                 f"sys.argv = {[child, *words]!r}\n"
                 f"runpy.run_path({child!r}, run_name='__main__')\n")
        if self.method == "limits":
            return [sys.executable, "-I", "-S", "-B", "-c", start], environment
        writable = "/tmp" if inside else str(scratch)
        start = _confined(packages, ["/bundle" if inside else str(bundle)], writable) + start
        if not inside:
            if self.method == "landlock":
                start = limit_processes(limits.processes + tasks_of(os.getuid())) + start
            return [sys.executable, "-I", "-S", "-B", "-c", start], environment
        users = gives_users()
        return [*bubblewrap(users), "--ro-bind", str(bundle), "/bundle", "--remount-ro", "/", "--",
                interpreter(), "-I", "-S", "-B", "-c",
                become_user(users, user, limits) + start], environment


def _link_libraries(bundle: Path) -> None:
    """Make a folder with links to the libraries; their own folder contains other packages too."""
    folder = bundle / "libraries"
    folder.mkdir(mode=0o755, exist_ok=True)
    for name, path in libraries():
        if not os.path.lexists(folder / name):
            os.symlink(path, folder / name)


def _confined(packages: str, readable: Sequence[str], writable: str) -> str:
    """Return a program that gives up all files except Python's, these, and a writable folder.

    `packages` is the folder with NumPy and pytest.
    """
    files = [*inside_library(), *shared_libraries(), interpreter(), *_DEVICES, *readable]
    files += [packages] if packages == INSIDE else [path for _, path in libraries()]
    text = Path(confine.__file__).read_text(encoding="utf-8")
    return (f"{text}\nDONE = confine({files!r}, {[*standard_library(), packages]!r}, "
            f"{[writable, '/dev/null']!r})\n")


def _trial(packages: str, needed: Sequence[str], more: str = "") -> str:
    """Return a program that confines itself like a graded process, then uses NumPy and pytest."""
    return (_confined(packages, [], "/nowhere") + f"assert {set(needed)!r} <= {{*DONE}}\n"
            f"import sys; sys.path.append({packages!r}); import numpy, pytest\n{more}")


def _bubblewrap_works(users: bool) -> bool:
    """Return whether bubblewrap can run NumPy here; in containers it often cannot."""
    text = become_user(users, USERS[0], Limits()) + _trial(INSIDE, [])
    return _ends_well([*bubblewrap(users), "--", interpreter(), "-I", "-S", "-B", "-c", text])


def _user_works() -> bool:
    """Return whether another user can start this Python; false if it is in root's home.

    Raises CourseError if that user could read the package.
    """
    start, packages = [sys.executable, "-I", "-S", "-B", "-c"], sysconfig.get_path("platlib")
    if not _ends_well([*start, _trial(packages, ["calls"])], USERS[0]):
        return False
    package = str(Path(minigrad.__file__).resolve())
    if _ends_well([*start, _trial(packages, [], f"open({package!r}).read()")], USERS[0]):
        raise CourseError(f"everyone on this machine can read {package}, and this Linux has no "
                          "Landlock, so submissions could read the answers there; deny others "
                          "access (chmod -R go-rwx), or install bubblewrap")
    return True


def _landlock_works() -> bool:
    """Return whether this Linux lets a process give up files and calls."""
    text = _trial(sysconfig.get_path("platlib"), ["files", "calls"])
    return _ends_well([sys.executable, "-I", "-S", "-B", "-c", text])


def _ends_well(command: list[str], user: int | None = None) -> bool:
    who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    try:
        done = subprocess.run(command, capture_output=True, cwd="/", timeout=CHECK, check=False,
                              **who)  # type: ignore[call-overload]
    except subprocess.TimeoutExpired:  # do not fall back to a weaker sandbox because of load
        raise CourseError(f"could not find out within {CHECK} seconds whether a sandbox works: "
                          "this machine is too busy; grade again later") from None
    except OSError:
        return False
    return bool(done.returncode == 0)


@cache
def gives_users() -> bool:
    """Return whether each run can have its own user in bubblewrap."""
    if known_to_give_users:
        return known_to_give_users[0]
    return os.name == "posix" and os.geteuid() == 0 and _bubblewrap_works(users=True)


#: All kinds of sandboxes, strongest first, with a check whether each works here.
METHODS: dict[str, Callable[[], bool]] = {
    "bubblewrap": lambda: (shutil.which("bwrap") is not None
                           and (gives_users() or _bubblewrap_works(users=False))),
    "user": lambda: os.name == "posix" and os.geteuid() == 0 and _user_works(),
    "landlock": lambda: os.name == "posix" and os.geteuid() != 0 and _landlock_works(),
    "limits": lambda: True,
}


@cache
def works(method: str) -> bool:
    """Return whether a kind of sandbox works here; root cannot use `landlock`."""
    return METHODS[method]()


@cache
def best_sandbox(required: bool = False) -> Sandbox:
    """Return the strongest sandbox that works here.

    Raises CourseError if root has no sandbox, if answers are readable in it, or, with `required`,
    if it is not bubblewrap.
    """
    method = next(each for each in METHODS if works(each))
    if required and method != "bubblewrap":
        raise CourseError("--require-sandbox needs bubblewrap (the command bwrap), which is not "
                          "installed or does not work here; install it or leave out the option")
    if method == "limits" and os.name == "posix" and os.geteuid() == 0 and not os.environ.get(ANY):
        raise CourseError("submissions would run as root, because bubblewrap (the command bwrap) "
                          "does not work here and no other user can start this Python; install "
                          f"bubblewrap, or set {ANY}=1 if you grade only your own work")
    if method != "limits":
        refuse_answers()
    return Sandbox(method)
