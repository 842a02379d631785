"""System calls that the filter refuses, tried where no whole sandbox works too."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from minigrad_course.grading import confine

#: Ways in which two processes can learn of each other through a file that both may read.
JOINING = {
    "flock": "fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)",
    "lockf": "fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)",
    "a lock that waits": "fcntl.lockf(file, fcntl.LOCK_SH)",
    "a lock of the opened file": "fcntl.fcntl(file, 37, bytes(32))",
    "a lock of the opened file that waits": "fcntl.fcntl(file, 38, bytes(32))",
    "a lease": "fcntl.fcntl(file, 1024, fcntl.F_RDLCK)",
    "a watch": "refused(libc.inotify_init())", "a newer watch": "refused(libc.inotify_init1(0))",
    "an old watch": "fcntl.fcntl(os.open(os.path.dirname(os.__file__), 0), 1026, 1)",
}
#: Uses of the same calls that programs need.
NEEDED = {"flags": "fcntl.fcntl(file, fcntl.F_GETFL)",
          "a copy": "os.close(fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 9))"}
_START = """
import ctypes, fcntl, os, signal
# Without the filter, the watch works, and the kernel sends a signal when a process reads there.
signal.signal(signal.SIGIO, signal.SIG_IGN)
libc = ctypes.CDLL(None, use_errno=True)
file = open(os.__file__)
def refused(result):
    if result < 0:
        raise PermissionError(ctypes.get_errno())
def tried(code):
    try:
        exec(code)
        return "done"
    except PermissionError:
        return "refused"
    except OSError as error:
        return str(error)
"""


def ran(codes: dict[str, str], confined: bool) -> dict[str, str]:
    """Return what came of each code, in a process with the filter or without it."""
    text = Path(confine.__file__).read_text(encoding="utf-8") if confined else ""
    text += "\nassert give_up_calls(ctypes.CDLL(None))" if confined else ""
    text = (f"import ctypes\n{text.replace('from __future__ import annotations', '')}\n{_START}\n"
            f"print({{name: tried(code) for name, code in {codes!r}.items()}})")
    if confined:
        text = text.replace("assert give_up_calls", "ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)\n"
                            "assert give_up_calls")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return dict(ast.literal_eval(done.stdout))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the filter is Linux's")
def test_no_lock_and_no_watch_joins_two_processes():
    assert ran(JOINING, True) == dict.fromkeys(JOINING, "refused")
    assert ran(NEEDED, True) == dict.fromkeys(NEEDED, "done")
    free = ran(JOINING, False)
    assert [free[name] for name in ("flock", "lockf", "a lock that waits", "a newer watch")] == [
        "done"] * 4
