"""Give each run its own user when root grades, and remove what that user leaves."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from functools import cache

if sys.platform != "win32":
    import fcntl

from ..content.stages import CourseError

__all__ = ["USERS", "end_all_of", "lock_folder", "remove_files_of", "scratch_folder",
           "user_for_a_run"]

#: The folder of the file of locks, if not the one for temporary files; see primed.py.
lock_folder: str | None = None

#: The users for graded processes when root grades; no account or service uses these numbers
#: (https://systemd.io/UIDS-GIDS/).
USERS = range(60_706, 61_184)
#: Folders in which every user can create files.
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")

_users_lock = threading.Lock()
_users_free = deque(USERS)
_users_free.rotate(-os.getpid())  # a process that follows another one begins with other users


@contextlib.contextmanager
def user_for_a_run() -> Iterator[int]:
    """Yield a user that no other run has, the one that has been unused for the longest time."""
    with _users_lock:
        user = next((each for each in list(_users_free) if _taken(each)), None)
        if user is None:
            raise CourseError(f"other runs use all users from {USERS[0]} to {USERS[-1]}; "
                              "grade again later")
        _users_free.remove(user)
    try:
        yield user
    finally:
        with _users_lock:
            _users_free.append(user)
            _give_back(user)


@cache
def _lock_file() -> int | None:
    """Return a file with one byte to lock per user, to exclude other gradings by root."""
    path = os.path.join(lock_folder or tempfile.gettempdir(), "minigrad-users")
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def _taken(user: int) -> bool:
    """Lock a user; return False if another grading has it."""
    if sys.platform != "win32" and os.geteuid() == 0 and (file := _lock_file()) is not None:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, user)
        except OSError:
            return False
    return True


def _give_back(user: int) -> None:
    if sys.platform != "win32" and os.geteuid() == 0 and (file := _lock_file()) is not None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, user)


def end_all_of(user: int) -> None:
    """Kill everything that a user's processes have left, in other sessions too."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(["/bin/sh", "-c", "kill -9 -1"], user=user, group=user, extra_groups=[],
                       capture_output=True, cwd="/", timeout=20, check=False)


def remove_files_of(user: int) -> None:
    """Remove a user's files from the folders in which every user can create files."""
    for folder in {*SHARED, tempfile.gettempdir()}:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid != user:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        remove(entry.path)
                    else:
                        os.unlink(entry.path)


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """Yield a new folder, and remove it with everything that untrusted code put into it."""
    folder = tempfile.mkdtemp(prefix="minigrad-")
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: str) -> None:
    """Remove a folder, even if it is too deep for Python's recursion or lacks permissions."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            with contextlib.suppress(OSError):
                subprocess.run([*command, "--", folder], capture_output=True, check=False)
