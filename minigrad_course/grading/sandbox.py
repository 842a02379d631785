"""Running somebody's code with as little in reach as this system allows.

NOTE [What a sandbox promises]
    Everywhere: limits on time, memory (on Linux that of all its processes taken together, too),
    size of files and of output; a process group that is killed whole; an empty environment; no
    standard input but the job.
    With bubblewrap: no network, no other process in sight, no file but those in reach.py and the
    bundle, nothing writable but a small folder in memory, few processes.
    As root without bubblewrap: a user of its own, and few processes; all of them are ended with the
    run, and what they left is removed.  As anybody else without bubblewrap: the grader's own user.
    Both have no network and no signal for others (confine.py), and where Linux has Landlock the
    same files as with bubblewrap.
    Nothing of this works on other systems: there the limits alone hold.  `Sandbox.kept` says which
    it is.
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

__all__ = ["METHODS", "Ended", "Limits", "Sandbox", "best_sandbox", "works"]

#: Seconds to find out whether a kind of sandbox works.
CHECK = 120
#: Set by whoever lets code be graded in a sandbox that keeps nothing from it.
ANY = "MINIGRAD_ANY_SANDBOX"

#: The folder of the libraries in bubblewrap.
INSIDE = "/libraries"
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")


@dataclass(frozen=True)
class Sandbox:
    """A way to run things, and what it keeps from them."""

    method: str  # one of METHODS

    @property
    def kept(self) -> str:
        """The sandbox's promises, in one sentence."""
        return {
            "bubblewrap": "no network, no other files or processes, and limits",
            "user": "a user of its own, no network, no private file, and limits",
            "landlock": "no network, no file but Python's own, no signal to others, and limits",
            "limits": "limits alone: the code can read what you can read, and reach the network",
        }[self.method]

    def run(self, bundle: Path, words: Sequence[str], job: bytes, limits: Limits) -> Ended:
        """Run `child.py` of a bundle with `words`, and `job` as its input."""
        with scratch_folder() as scratch, user_for_a_run() as user:
            _link_libraries(bundle)
            command, environment = self._command(bundle, Path(scratch), words, user, limits)
            if self.method == "user" or (self.method == "bubblewrap" and gives_users()):
                os.chown(bundle, -1, user)  # to be read by this run, and by no other
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
                       "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
                       "PYTHONDONTWRITEBYTECODE": "1"}
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
    """Make a folder with links to the libraries: in their own are other packages, too."""
    folder = bundle / "libraries"
    folder.mkdir(mode=0o755, exist_ok=True)
    for name, path in libraries():
        if not os.path.lexists(folder / name):
            os.symlink(path, folder / name)


def _confined(packages: str, readable: Sequence[str], writable: str) -> str:
    """Return a program that gives up all but Python's files, these, and a folder to write in.

    `packages` is the folder with NumPy and pytest.
    """
    files = [*inside_library(), *shared_libraries(), interpreter(), *_DEVICES, *readable]
    files += [packages] if packages == INSIDE else [path for _, path in libraries()]
    text = Path(confine.__file__).read_text(encoding="utf-8")
    return (f"{text}\nDONE = confine({files!r}, {[*standard_library(), packages]!r}, "
            f"{[writable, '/dev/null']!r})\n")


def _trial(packages: str, needed: Sequence[str], more: str = "") -> str:
    """Return a program that gives up what a graded process does, and then uses NumPy and pytest."""
    return (_confined(packages, [], "/nowhere") + f"assert {set(needed)!r} <= {{*DONE}}\n"
            f"import sys; sys.path.append({packages!r}); import numpy, pytest\n{more}")


def _bubblewrap_works(users: bool) -> bool:
    """Whether bubblewrap works here, often not in containers, and NumPy can be used in it."""
    text = become_user(users, USERS[0], Limits()) + _trial(INSIDE, [])
    return _ends_well([*bubblewrap(users), "--", interpreter(), "-I", "-S", "-B", "-c", text])


def _user_works() -> bool:
    """Whether another user can start this Python; not where it lies in root's own folder.

    CourseError where that user could read the package.
    """
    start, packages = [sys.executable, "-I", "-S", "-B", "-c"], sysconfig.get_path("platlib")
    if not _ends_well([*start, _trial(packages, ["calls"])], USERS[0]):
        return False
    package = str(Path(minigrad.__file__).resolve())
    if _ends_well([*start, _trial(packages, [], f"open({package!r}).read()")], USERS[0]):
        raise CourseError(f"{package} can be read by everybody on this machine, and this Linux has "
                          "no Landlock: submissions could read the answers there; take the right "
                          "to read it from others (chmod -R go-rwx), or install bubblewrap")
    return True


def _landlock_works() -> bool:
    """Whether this Linux lets a process give up files and calls."""
    text = _trial(sysconfig.get_path("platlib"), ["files", "calls"])
    return _ends_well([sys.executable, "-I", "-S", "-B", "-c", text])


def _ends_well(command: list[str], user: int | None = None) -> bool:
    who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    try:
        done = subprocess.run(command, capture_output=True, cwd="/", timeout=CHECK, check=False,
                              **who)  # type: ignore[call-overload]
    except subprocess.TimeoutExpired:  # a weaker sandbox is no answer to that
        raise CourseError(f"whether a sandbox works here was not known after {CHECK} seconds: this "
                          "machine is too busy; grade again later") from None
    except OSError:
        return False
    return bool(done.returncode == 0)


@cache
def gives_users() -> bool:
    """Whether each run can have a user of its own in bubblewrap."""
    return os.name == "posix" and os.geteuid() == 0 and _bubblewrap_works(users=True)


#: All kinds of sandboxes, the strongest first, and whether each works here.
METHODS: dict[str, Callable[[], bool]] = {
    "bubblewrap": lambda: (shutil.which("bwrap") is not None
                           and (gives_users() or _bubblewrap_works(users=False))),
    "user": lambda: os.name == "posix" and os.geteuid() == 0 and _user_works(),
    "landlock": lambda: os.name == "posix" and os.geteuid() != 0 and _landlock_works(),
    "limits": lambda: True,
}


@cache
def works(method: str) -> bool:
    """Tell whether a kind of sandbox works here; root has no use for `landlock`."""
    return METHODS[method]()


@cache
def best_sandbox(required: bool = False) -> Sandbox:
    """Return the strongest sandbox that works here.

    CourseError where root has none, where answers can be read in it, and, with `required`, where it
    is not bubblewrap.
    """
    method = next(each for each in METHODS if works(each))
    if required and method != "bubblewrap":
        raise CourseError("there is no bubblewrap that works here (the command bwrap); install it "
                          "or leave out --require-sandbox")
    if method == "limits" and os.name == "posix" and os.geteuid() == 0 and not os.environ.get(ANY):
        raise CourseError("submissions would run as root: bubblewrap does not work here (the "
                          "command bwrap), and no other user can start this Python; install "
                          f"bubblewrap, or set {ANY}=1 if all that is graded is your own work")
    if method != "limits":
        refuse_answers()
    return Sandbox(method)
