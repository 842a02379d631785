"""The command that starts a process in bubblewrap, and whether that works here.

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

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from .process import Limits
from .reach import interpreter, libraries, shared_libraries, site_folders, standard_library

__all__ = ["become_user", "bubblewrap", "limit_processes"]


def bubblewrap(users: bool) -> list[str]:
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
    files = [*standard_library(), *shared_libraries(), interpreter()]
    for folder in sorted({str(each) for path in files for each in Path(path).parents[:-1]}):
        arguments += ["--dir", folder]  # otherwise they are the starter's alone
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
    """Whether this bubblewrap can limit a folder in memory, as it can from 0.7 on."""
    return b"--size" in subprocess.run(["bwrap", "--help"], capture_output=True, check=False).stdout


def become_user(users: bool, user: int, limits: Limits) -> str:
    """Return what a process in bubblewrap does first: it becomes its user, and counts from then."""
    text = ""
    if users:
        text = (f"import os; os.setgroups([]); os.setresgid({user}, {user}, {user}); "
                f"os.setresuid({user}, {user}, {user})\n")
    elif not _counts_in_namespaces():
        return text
    return text + limit_processes(limits.processes)


def limit_processes(count: int) -> str:
    """Return what a process does so that its user has at most so many processes and threads."""
    return f"import resource; resource.setrlimit(resource.RLIMIT_NPROC, ({count}, {count}))\n"


def _counts_in_namespaces() -> bool:
    """Whether this Linux counts the processes of a user namespace by themselves."""
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (5, 14)
