"""Answers that last, crash, fill memory or write too much: they get no points, and end."""

from __future__ import annotations

import os
import textwrap
import time
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.grading.sandbox import Limits
from tests.support.attacks import (
    LIMITS,
    SECONDS,
    STAGE,
    STUB,
    added,
    each_sandbox,
    graded,
    in_probes,
    ran,
)
from tests.support.slow import one_in

#: What is added to do harm or to last; the exercise gets no points here either.
HARMING = {
    "an endless loop": "while True: pass",
    "an endless sleep": "import time; time.sleep(10_000)",
    "a deaf process": """
        import signal, time
        for number in range(1, 64):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError, RuntimeError): pass
        time.sleep(10_000)
    """,
    "a thread that outlives": """
        import threading, time
        threading.Thread(target=lambda: time.sleep(10_000)).start()
    """,
    "a child that outlives": """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(10000)"],
                         start_new_session=True)
    """,
    "deep recursion": "import sys; sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "all memory": "x = [bytearray(1 << 28) for _ in range(1000)]",
    "all memory by many processes": """
        import os, time
        if any(not os.fork() for _ in range(12)):
            x = bytes(bytearray(b"x") * (300 << 20))
        time.sleep(100)
        """,
    "all memory by NumPy": "import numpy; x = [numpy.ones(1 << 27) for _ in range(1000)]",
    "much output": "import sys\nwhile True: sys.stderr.write('x' * 100_000)",
    "a line without an end": """
        import os
        while True: os.write(2, b'x' * 65536)
    """,
    "a huge file": """
        with open(__import__("tempfile").gettempdir() + "/huge", "wb") as file:
            while True: file.write(b"x" * (1 << 20))
    """,
    "many files": """
        import os
        held = [open(__import__("tempfile").gettempdir() + f"/{i}", "w") for i in range(100_000)]
    """,
    "a fork bomb": """
        import os
        while True:
            try: os.fork()
            except OSError: pass
    """,
    "a thread bomb": """
        import threading, time
        while True: threading.Thread(target=time.sleep, args=(10_000,)).start()
    """,
    "a signal to its parent": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
    "a signal to all": """
        import os, signal
        for number in range(2, 5000):
            if number != os.getpid():
                try: os.kill(number, signal.SIGKILL)
                except OSError: pass
    """,
    "a crash": "import ctypes; ctypes.string_at(0)",
    "an abort": "import os; os.abort()",
    "text that is no Python": "def (:",
    "a name error": "undefined_name",
    "BaseException": "raise BaseException('no')",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "a class that cannot be shown": """
        class Bad(Exception):
            def __str__(self): raise Bad
            __repr__ = __str__
        raise Bad
    """,
    "escape sequences": "raise RuntimeError('\\x1b[2J\\x00\\u202e]]>&<script>')",
    "its own files": """
        import os, pathlib, sys
        for path in pathlib.Path(sys.argv[0]).parent.rglob("*"):
            try: os.unlink(path)
            except OSError: pass
    """,
    "memory in shared mappings": """
        import mmap
        held = []
        while True:
            held.append(mmap.mmap(-1, 1 << 28))
            held[-1].write(b"x" * (1 << 28))
    """,
    "memory in files of no folder": """
        import os
        held = []
        for i in range(200):
            held.append(os.memfd_create(str(i)))
            for _ in range(15): os.write(held[-1], b"x" * (1 << 20))
        raise RuntimeError("it was held")
    """,
    "memory of System V": """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.shmat.restype = ctypes.c_void_p
        for i in range(200):
            number = libc.shmget(0, 1 << 26, 0o1600)
            assert number >= 0
            ctypes.memset(libc.shmat(number, None, 0), 1, 1 << 26)
        raise RuntimeError("it was held")
    """,
    "a file system of its own": """
        import ctypes
        libc = ctypes.CDLL(None)
        assert libc.unshare(0x10020000) == 0
        assert libc.mount(b"none", b"/tmp", b"tmpfs", 0, b"size=8g") == 0
        raise RuntimeError("it was held")
    """,
    "deleted files that are open": """
        import os, tempfile
        held = []
        while True:
            held.append(tempfile.TemporaryFile())
            for _ in range(15): os.write(held[-1].fileno(), b"x" * (1 << 20))
    """,
    "folders in folders": """
        import os, tempfile
        os.chdir(tempfile.gettempdir())
        for i in range(5000):
            os.mkdir("d")
            os.chdir("d")
    """,
    "names without an end": """
        import os, tempfile
        for i in range(20_000):
            open(os.path.join(tempfile.gettempdir(), "x" * 200 + str(i)), "w").close()
        raise RuntimeError("it was held")
    """,
    "a stopped process": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "a crash at the end": "import atexit, ctypes; atexit.register(ctypes.string_at, 0)",
    "a hang at the end": "import atexit, time; atexit.register(time.sleep, 10_000)",
    "a hang in a finalizer": """
        import time
        class Slow:
            def __del__(self): time.sleep(10_000)
        held = Slow()
        held.me = held
    """,
    "a warning with each line": "import warnings\nwhile True: warnings.warn('x' * 10_000)",
    "an error without an end": "raise RuntimeError('x' * 50_000_000)",
    "an error of errors": """
        error = None
        for i in range(100_000):
            new = RuntimeError(str(i))
            new.__cause__ = error
            error = new
        raise error
    """,
    "a group of errors": "raise BaseExceptionGroup('x', [SystemExit(0), KeyboardInterrupt()])",
    "GeneratorExit": "raise GeneratorExit",
    "names that are no text": "raise type('\\udcff\\ud800', (Exception,), {})('\\udcff')",
    "null bytes in an error": "raise RuntimeError('\\0' * 1000)",
    "output that is closed": "import os; os.closerange(0, 100)",
    "ten megabytes of outcomes": """
        import json, os
        line = json.dumps({"test": "x" * 200, "holes": ["07.1", "07.2"], "outcome": "failed",
                           "message": "y" * 2000}).encode() + b"\\n"
        for _ in range(5000): os.write(3, line)
        os._exit(0)
    """,
    "outcomes of odd types": """
        import json, os
        for line in ({"test": 3, "holes": "07.1"}, {"test": [], "holes": [[]]}, {"holes": None},
                     {"begins": {}, "holes": 7}, {"symptom": []}, {"hangs_in": "no"}, [], 3, None,
                     {"broken": []}, {"test": "x", "holes": [{}, 3], "outcome": []}):
            os.write(3, json.dumps(line).encode() + b"\\n")
        os._exit(0)
    """,
    "JSON that nests deeply": "import os; os.write(3, b'[' * 1_000_000 + b'\\n'); os._exit(0)",
    "a number without an end": """
        import os
        os.write(3, b'{"test": ' + b"9" * 1_000_000 + b"}\\n")
        os._exit(0)
    """,
    "a test that begins and begins": """
        import json, os, random
        os.write(3, b'{"ready": true}\\n' + json.dumps(
            {"begins": str(random.SystemRandom().random()), "holes": ["07.1"]}).encode() + b"\\n")
        os._exit(1)
    """,
}


#: Each attack where the tests run and where the probes run: one of the two each day, the other
#: on the next. One case is quick.
WHERE = {"tests": added, "probes": in_probes}
EACH = [pytest.param(attack, WHERE[where], id=f"{attack}-{where}")
        for i, attack in enumerate(HARMING) for where in sorted(WHERE, reverse=i % 2 == 0)]
EACH = [EACH[0], *one_in(2, EACH[1:])]


@each_sandbox
@pytest.mark.parametrize(("attack", "where"), EACH)
def test_harm_stays_inside(attack, where, sandbox, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in STAGE.root.glob("minigrad/**/*.py")}
    begun = time.monotonic()
    result = graded(where(HARMING[attack]), tmp_path, sandbox)
    # all runs together have four times the limit of one; starting and reading them is not counted
    assert time.monotonic() - begun < 4 * SECONDS + 60
    assert result.points == 0
    assert sum(len(message) for hole in result.holes for _, message in hole.failing) < 200_000
    assert {path: path.stat().st_mtime_ns
            for path in STAGE.root.glob("minigrad/**/*.py")} == before


@each_sandbox
@pytest.mark.slow
def test_few_processes_can_be_started(sandbox, tmp_path):
    """They are counted for each run, and threads with them."""
    text = added("""
        import os, time
        started = 0
        try:
            while started < 300:
                if not os.fork():
                    time.sleep(20)
                    os._exit(0)
                started += 1
        except OSError:
            pass
        raise RuntimeError(f"{started} processes")
    """)
    # pages that a fork shares count for each process
    limits = Limits(seconds=SECONDS, memory=16 << 30)
    (reason,) = {hole.reason for hole in graded(text, tmp_path, sandbox, limits).holes}
    started = int(reason.removesuffix(" processes").rpartition(" ")[2])
    # An ordinary user's other processes are counted too; some may have ended in the meantime.
    others = 16 if sandbox.method == "landlock" else 0
    assert 8 < started < LIMITS.processes + others


#: Computes in several processes until it has the lowest priority, and writes each one's priority.
HOGS = """
import os, time
def busy():
    ends = time.monotonic() + (50 if OTHERS else 1)
    while time.monotonic() < ends and os.getpriority(os.PRIO_PROCESS, 0) < 19:
        pass
    os.write(1, b"%d " % os.getpriority(os.PRIO_PROCESS, 0))
for _ in range(OTHERS):
    if not os.fork():
        busy()
        os._exit(0)
busy()
[os.wait() for _ in range(OTHERS)]
"""


@each_sandbox
@pytest.mark.slow
@pytest.mark.parametrize("others", [0, 6])
def test_a_run_that_computes_in_parallel_yields_to_others(others, sandbox, tmp_path):
    """Sixty busy processes would leave so little to another run that it ended at its limit."""
    found = ran(HOGS.replace("OTHERS", str(others)), tmp_path, sandbox, Limits(seconds=60)).split()
    lowest = 19 if others else os.getpriority(os.PRIO_PROCESS, 0)
    assert [*map(int, found)] == [lowest] * (others + 1)


@each_sandbox
@pytest.mark.slow
def test_little_is_stored_in_files(sandbox, tmp_path):
    """Each file is limited, and so are all of them together."""
    text = added("""
        import os, time
        written = 0
        # Each folder once: written again, a file counts anew and takes no more room.
        for folder in dict.fromkeys((os.environ["TMPDIR"], "/tmp", "/dev/shm", "/dev", "/libraries",
                                     "/bundle", "/", "/usr", "/proc", "/var/tmp")):
            for number in range(40):
                try:
                    with open(f"{folder}/filler{number}", "wb", buffering=0) as file:
                        for _ in range(15):
                            written += file.write(b"x" * (1 << 20)) >> 20
                except OSError:
                    break
        time.sleep(1)
        raise RuntimeError(f"{written} MB")
    """)
    (reason,) = {hole.reason for hole in graded(text, tmp_path, sandbox).holes}
    if sandbox.method == "bubblewrap":
        assert 16 < int(reason.removesuffix(" MB").rpartition(" ")[2]) <= 64
    else:
        assert "stored more than" in reason


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
@each_sandbox
@pytest.mark.slow
def test_nothing_is_left_running(sandbox, tmp_path):
    """A process that went into a session of its own ends with its run."""
    mark = f"10{os.getpid()}"
    text = STUB + textwrap.dedent(f"""
        import subprocess, sys
        for _ in range(3):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep({mark})"],
                             start_new_session=True)
    """)
    graded(text, tmp_path, sandbox)
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert f"time.sleep({mark})" not in path.read_text()
        except OSError:
            pass
