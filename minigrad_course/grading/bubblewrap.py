"""The command that starts a process in bubblewrap, and checks whether bubblewrap works here.

NOTE [Few processes]
    Linux counts processes per user, and exempts root.  So when root grades, each run gets its own
    user, inside bubblewrap too: the process starts there as root, because only root can see a
    Python installed in root's home, and becomes that user before it does anything else.  Since each
    run has its own user, the limit counts that run alone, and parallel runs cannot touch each
    other.  For other users, and where root may not switch users, bubblewrap creates a user
    namespace.  Linux counts processes per namespace since 5.14.  In older versions, and for real
    root in such a namespace, only the time limit stops a fork bomb.
"""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from .process import Limits
from .reach import interpreter, libraries, shared_libraries, site_folders, standard_library

__all__ = ["become_user", "bubblewrap", "limit_processes"]


def bubblewrap(users: bool) -> list[str]:
    """Return the command that starts a sandbox, without the program that it runs.

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
    files = [*standard_library(), *shared_libraries(), interpreter()]
    for folder in sorted({str(each) for path in files for each in Path(path).parents[:-1]}):
        arguments += ["--dir", folder]  # otherwise only the user who starts it could enter them
    for path in files:
        arguments += ["--ro-bind", path, path]
    for site in site_folders():
        arguments += ["--tmpfs", site]
    for name, path in libraries():
        arguments += ["--ro-bind", path, f"/libraries/{name}"]
    for folder in ("/dev", "/libraries", *site_folders()):
        arguments += ["--remount-ro", folder]
    return arguments


@cache
def _sizes_are_known() -> bool:
    """Return whether this bubblewrap can limit the size of a tmpfs, as it can since 0.7."""
    return b"--size" in subprocess.run(["bwrap", "--help"], capture_output=True, check=False).stdout


def become_user(users: bool, user: int, limits: Limits) -> str:
    """Return the code a process in bubblewrap runs first: switch users and limit its processes."""
    text = ""
    if users:
        text = (f"import os; os.setgroups([]); os.setresgid({user}, {user}, {user}); "
                f"os.setresuid({user}, {user}, {user})\n")
    elif not _counts_in_namespaces():
        return text
    return text + limit_processes(limits.processes)


def limit_processes(count: int) -> str:
    """Return code that limits the processes and threads of the current user to `count`."""
    return f"import resource; resource.setrlimit(resource.RLIMIT_NPROC, ({count}, {count}))\n"


def _counts_in_namespaces() -> bool:
    """Return whether this Linux counts processes separately in each user namespace."""
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (5, 14)
