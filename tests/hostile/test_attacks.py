"""Submissions that try to get points, or to do harm, by other means than solving exercises.

Each is an exercise as shipped with some code added.  None may get a point, take longer than the
limits, change anything outside its sandbox, or break a report.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import socket
import textwrap
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.slow import slow_but

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course import stages as course
from minigrad_course.dev.source import body_span, module
from minigrad_course.grading.grade import Grade, grade
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.report import Report
from minigrad_course.grading.sandbox import Limits, best_sandbox
from minigrad_course.grading.writers import WRITERS, classroom50, gradescope

STAGE = course.find_stage("07")
(MODULE,) = STAGE.modules
STUB = STAGE.exercise(MODULE).read_text(encoding="utf-8")
SOLUTION = STAGE.solution(MODULE).read_text(encoding="utf-8")
SECONDS = 8
LIMITS = Limits(seconds=SECONDS, memory=2 << 30)
SANDBOX = best_sandbox()
RUNNER = {"CLASSROOM": "c", "ASSIGNMENT": "a", "SUBMISSION_TAG": "t", "COMMIT_URL": "u",
          "RELEASE_URL": "r"}
pytestmark = pytest.mark.skipif(SANDBOX.kind == "limits", reason="there is no sandbox here")

#: What is added to the exercise as shipped, which is otherwise unsolved.
FORGING = {
    "exit with success": "import os; os._exit(0)",
    "sys.exit": "import sys; sys.exit(0)",
    "skip everything": "import pytest; pytest.skip('done', allow_module_level=True)",
    "exit at the end": "import atexit, os; atexit.register(lambda: os._exit(0))",
    "a report of its own": """
        import json, os
        for fd in range(1, 20):
            try:
                os.write(fd, b'{"test": "x", "holes": ["07.1"], "outcome": "passed"}\\n')
            except OSError:
                pass
    """,
    "answers before they are asked": """
        import json, os, sys
        jobs = json.loads(os.pread(0, 1 << 20, 0) or b"[]") if len(sys.argv) else []
        for fd in range(1, 20):
            for name, seed in jobs:
                try:
                    os.write(fd, json.dumps({"probe": name, "seed": seed, "value": ["list"]}
                                            ).encode() + b"\\n")
                except OSError:
                    pass
        os._exit(0)
    """,
    "no_grad that is always equal": """
        class Same:
            def __eq__(self, other): return True
            def __hash__(self): return 0
            def __bool__(self): return True
        is_grad_enabled = Same
    """,
    "json that lies": """
        import json
        real = json.dumps
        json.dumps = lambda value, **k: real({**value, "value": True}, **k)
    """,
    "probes replaced": """
        import sys, types
        class Probes(types.ModuleType):
            def __getattr__(self, name):
                return lambda random: []
        sys.modules["probes"] = Probes("probes")
    """,
    "pytest replaced": """
        import sys, types
        fake = types.ModuleType("pytest")
        fake.main = lambda *a, **k: 0
        sys.modules["pytest"] = fake
    """,
    "asserts that always hold": """
        import builtins
        builtins.AssertionError = type("Never", (Exception,), {})
    """,
    "a plugin that passes all": """
        import _pytest.runner as runner
        runner.runtestprotocol = lambda *a, **k: []
    """,
    "random that is constant": """
        import random
        random.Random.random = lambda self: 0.5
        random.Random.choice = lambda self, items: items[0]
    """,
    "numpy that is always close": """
        import numpy
        numpy.allclose = numpy.array_equal = lambda *a, **k: True
        numpy.testing.assert_allclose = numpy.testing.assert_array_equal = lambda *a, **k: None
    """,
    "an import hook": """
        import sys
        class Hook:
            def find_spec(self, name, path=None, target=None):
                if name == "probes":
                    raise SystemExit(0)
        sys.meta_path.insert(0, Hook())
    """,
    "tracing": "import sys; sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)",
    "types that lie": """
        class Lie(int):
            @property
            def __class__(self): return bool
        is_grad_enabled = lambda: Lie(1)
    """,
    "the frames of the caller": """
        import sys
        frame = sys._getframe()
        while frame:
            for name in ("jobs", "expected", "answers"):
                frame.f_locals.get(name)
            frame = frame.f_back
    """,
    "the original by its name": """
        import importlib.util
        for base in ("/usr/lib/python3/dist-packages", *__import__("sys").path):
            path = base + "/minigrad/autograd/grad_mode.py"
            spec = importlib.util.spec_from_file_location("original", path)
            try:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                globals().update(vars(module))
            except Exception:
                pass
    """,
    "its compiled form": """
        import glob, marshal
        for path in glob.glob("/**/grad_mode*.pyc", recursive=True):
            exec(marshal.loads(open(path, "rb").read()[16:]), globals())
    """,
    "the solution on disk": f"""
        import pathlib
        for path in ({str(STAGE.root)!r}, "/work", "/root", "/home", "/tmp"):
            for found in pathlib.Path(path).glob("**/solutions/07_grad_mode.py"):
                exec(found.read_text(), globals())
    """,
    "a constant mode": "is_grad_enabled = lambda: True",
}

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
        with open("/tmp/huge", "wb") as file:
            while True: file.write(b"x" * (1 << 20))
    """,
    "many files": """
        import os
        held = [open("/tmp/%d" % i, "w") for i in range(100_000)]
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
        import os, pathlib
        for path in pathlib.Path("/bundle").rglob("*"):
            try: os.unlink(path)
            except OSError: pass
    """,
}


#: What every function of every exercise does, besides `attack()`: each is written, and none right.
#: A second run has the package's version of all exercises but one.
SECOND_RUN = {
    "an end as soon as others are right": """
        import os, sys
        def attack(name, *args, **kwargs):
            if open(__file__).read().count("attack(") < 9 or len(sys.argv) > 2:
                os._exit(0)
    """,
    "search for the original": """
        import gc, sys, types
        def attack(name, *args, **kwargs):
            for each in gc.get_objects():
                if isinstance(each, types.FunctionType) and each.__name__ == name and \\
                        "attack" not in each.__code__.co_names:
                    return each(*args, **kwargs)
            raise RuntimeError("there is none")
    """,
    "the text of this file": """
        import ast, pathlib
        def attack(name, *args, **kwargs):
            tree = ast.parse(pathlib.Path(__file__).read_text())
            for each in ast.walk(tree):
                if isinstance(each, ast.FunctionDef) and each.name == name and \\
                        "attack" not in ast.unparse(each):
                    space = dict(globals())
                    exec(ast.unparse(each), space)
                    return space[name](*args, **kwargs)
            raise RuntimeError("there is none")
    """,
    "outcomes of its own in the second run": """
        import json, os, sys
        def attack(name, *args, **kwargs):
            for hole in sys.argv[2:]:
                for fd in range(1, 20):
                    try:
                        os.write(fd, json.dumps({"test": "x", "holes": [hole],
                                                 "outcome": "passed"}).encode() + b"\\n")
                    except OSError:
                        pass
            os._exit(0) if sys.argv[2:] else None
    """,
    "what another exercise gives": """
        def attack(name, *args, **kwargs):
            for other, value in list(globals().items()):
                if callable(value) and getattr(value, "__name__", "") != "attack":
                    try: return value(*args, **kwargs)
                    except Exception: pass
    """,
    "a class that takes what it lacks": """
        def attack(name, *args, **kwargs): raise AttributeError(name)
        import minigrad._state
        def __getattr__(name):
            raise RuntimeError(name)
    """,
}


def attacking(code: str) -> str:
    """The module with each exercise's body replaced by a call of `attack`."""
    source, lines = module(STAGE.package, MODULE), SOLUTION.splitlines()
    header = len(lines) - len(source.lines)
    for hole in STAGE.holes:
        for symbol in hole.symbols:
            function = source.function(symbol.partition(":")[2])
            first, last = body_span(source, function)
            lines[header + first - 1] = (" " * (function.col_offset + 4)
                                         + f"return attack({function.name!r})")
            lines[header + first : header + last] = [""] * (last - first)
    return "\n".join(lines) + "\n\n" + textwrap.dedent(code)


def without_functions() -> str:
    """The module without the functions and the classes of its exercises."""
    names = {symbol.partition(":")[2].partition(".")[0] for hole in STAGE.holes
             for symbol in hole.symbols}
    tree = ast.parse(SOLUTION)
    lines = SOLUTION.splitlines()
    for each in reversed(tree.body):
        if getattr(each, "name", "") in names:
            first = min([each.lineno, *(one.lineno for one in each.decorator_list)])
            del lines[first - 1 : each.end_lineno]
    return "\n".join(lines) + "\n"


def graded(text: str, tmp_path: Path, name: str = "handin.py") -> Grade:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    begun = time.monotonic()
    result = grade(STAGE, take_in(path, STAGE), SANDBOX, limits=LIMITS)
    # A probe that ends the process is not asked again, so each hole costs one limit at most.
    assert time.monotonic() - begun < SECONDS * (len(STAGE.holes) + 3)
    assert path.read_text(encoding="utf-8") == text
    return result


def check_reports(result: Grade) -> None:
    """Every format can be written, and read by its own rules."""
    report = Report("handin.py", (result,))
    assert Report.from_dict(json.loads(json.dumps(report.as_dict()))) == report
    ElementTree.fromstring(WRITERS["junit"]([report]))
    assert len(WRITERS["csv"]([report]).splitlines()) == 2
    assert "<script>" not in WRITERS["html"]([report])
    for test in gradescope(report)["tests"]:
        assert test["status"] in ("passed", "failed")
        assert 0 <= test["score"] <= test["max_score"]
    result50 = classroom50(report, RUNNER)
    assert result50["score"] <= result50["max-score"]
    assert all(type(test[key]) is int for test in result50["tests"]
               for key in ("score", "max-score"))


@pytest.mark.parametrize("attack", slow_but(1, FORGING))
def test_forging_gives_no_points(attack, tmp_path):
    result = graded(STUB + "\n\n" + textwrap.dedent(FORGING[attack]), tmp_path)
    assert result.points == 0
    assert all(hole.reason for hole in result.holes)
    check_reports(result)


@pytest.mark.parametrize("attack", slow_but(1, SECOND_RUN))
def test_a_second_run_gives_nothing_away(attack, tmp_path):
    path = tmp_path / "handin.py"
    path.write_text(attacking(SECOND_RUN[attack]), encoding="utf-8")
    result = grade(STAGE, take_in(path, STAGE), SANDBOX, limits=LIMITS)
    assert result.points == 0, result.holes
    check_reports(result)


@pytest.mark.slow
def test_functions_that_are_not_there_are_not_given(tmp_path):
    assert graded(without_functions(), tmp_path).points == 0
    assert graded("", tmp_path).points == 0


@pytest.mark.parametrize("attack", slow_but(1, HARMING))
def test_harm_stays_inside(attack, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in STAGE.root.glob("minigrad/**/*.py")}
    result = graded(STUB + "\n\n" + textwrap.dedent(HARMING[attack]), tmp_path)
    assert result.points == 0
    check_reports(result)
    assert {path: path.stat().st_mtime_ns
            for path in STAGE.root.glob("minigrad/**/*.py")} == before


def test_the_solution_gets_all_points(tmp_path):
    result = graded(SOLUTION, tmp_path)
    assert [hole.reason for hole in result.holes] == [""] * len(STAGE.holes)
    assert result.points == result.max_points == 10
    check_reports(result)


@pytest.mark.slow
def test_what_is_wrong_with_one_hole_leaves_the_others(tmp_path):
    from minigrad_course.dev.source import blank

    first = STAGE.holes[0]
    result = graded(blank(STAGE, MODULE, [STAGE.holes[3]]), tmp_path)
    points = {hole.hole: hole.points for hole in result.holes}
    assert points[STAGE.holes[3].id] == 0
    assert points[first.id] == first.points


@pytest.mark.slow
def test_few_processes_can_be_started(tmp_path):
    """They are counted for each run, and threads with them."""
    text = STUB + textwrap.dedent("""
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
    result = graded(text, tmp_path)
    (reason,) = {hole.reason for hole in result.holes}
    started = int(reason.removesuffix(" processes").rpartition(" ")[2])
    assert 8 < started < LIMITS.processes


@pytest.mark.slow
def test_little_memory_is_filled_by_files(tmp_path):
    """Each file is limited, and so are all of them together: they lie in memory."""
    if SANDBOX.kind != "bubblewrap":
        pytest.skip("only bubblewrap has its files in memory")
    text = STUB + textwrap.dedent("""
        import os
        written = 0
        for folder in ("/tmp", "/dev/shm", "/dev", "/libraries", "/bundle", "/", "/usr", "/proc"):
            for number in range(40):
                try:
                    with open(f"{folder}/filler{number}", "wb", buffering=0) as file:
                        for _ in range(15):
                            written += file.write(b"x" * (1 << 20)) >> 20
                except OSError:
                    break
        raise RuntimeError(f"{written} MB")
    """)
    (reason,) = {hole.reason for hole in graded(text, tmp_path).holes}
    assert 16 < int(reason.removesuffix(" MB").rpartition(" ")[2]) <= 64


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
@pytest.mark.slow
def test_nothing_is_left_running(tmp_path):
    """What went into sessions of its own ends with its run."""
    mark = f"10{os.getpid()}"
    text = STUB + textwrap.dedent(f"""
        import subprocess, sys
        for _ in range(3):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep({mark})"],
                             start_new_session=True)
    """)
    graded(text, tmp_path)
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert f"time.sleep({mark})" not in path.read_text()
        except OSError:
            pass


@pytest.mark.slow
def test_the_network_cannot_be_reached(tmp_path):
    if SANDBOX.kind != "bubblewrap":
        pytest.skip("only bubblewrap keeps the network out")
    met = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)

        def wait() -> None:
            try:
                server.accept()
                met.set()
            except TimeoutError:
                pass

        def listen() -> None:
            for _ in range(20):
                wait()

        thread = threading.Thread(target=listen)
        thread.start()
        port = server.getsockname()[1]
        graded(STUB + f"\nimport socket\nsocket.create_connection(('127.0.0.1', {port}), 1)\n",
               tmp_path)
        thread.join()
    assert not met.is_set()


@pytest.mark.parametrize("where", slow_but(1, [
    "/tmp/minigrad-was-here", str(STAGE.root / "was-here"), "/bundle/was-here", "/usr/was-here"]))
def test_nothing_is_written_outside(where, tmp_path):
    graded(STUB + f"\nopen({where!r}, 'w').write('x')\n", tmp_path)
    assert not os.path.exists(where)


@pytest.mark.slow
def test_nothing_of_the_system_can_be_read(tmp_path):
    if SANDBOX.kind != "bubblewrap":
        pytest.skip("only bubblewrap keeps files out of sight")
    secret = tmp_path / "secret"
    secret.write_text("it was read")
    text = SOLUTION + textwrap.dedent(f"""
        import os
        for path in ({str(secret)!r}, "/etc/passwd", "/etc/shadow", {str(STAGE.probes)!r},
                     {str(STAGE.solution(MODULE))!r}):
            if os.path.exists(path):
                raise RuntimeError("it was read")
        if len(os.listdir("/proc")) > 200 or "SECRET" in os.environ:
            raise RuntimeError("it was read")
    """)
    os.environ["SECRET"] = "x"
    try:
        result = graded(text, tmp_path)
    finally:
        del os.environ["SECRET"]
    assert result.points == result.max_points


@pytest.mark.parametrize(("content", "told"), slow_but(1, [
    (b"\xff\xfe\x00x", "null bytes"), (b"\xff\xfe", "not UTF-8"), (b"x" * 300_000, "300000 bytes"),
    (b"", ""),
]))
def test_content_that_is_no_program(content, told, tmp_path):
    path = tmp_path / "handin.py"
    path.write_bytes(content)
    result = grade(STAGE, take_in(path, STAGE), SANDBOX, limits=LIMITS)
    assert result.points == 0
    assert all(told in hole.reason for hole in result.holes)
    check_reports(result)


@pytest.mark.parametrize("kind", slow_but(1, [
    "a link", "a linked folder", "a device", "a pipe", "a folder", "nothing"]))
def test_links_devices_and_pipes_are_not_read(kind, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text(SOLUTION)
    folder = tmp_path / "handin"
    target = folder / "exercises" / "07_grad_mode.py"
    if kind == "a linked folder":
        (tmp_path / "elsewhere").mkdir()
        shutil.copy(outside, tmp_path / "elsewhere" / "07_grad_mode.py")
        folder.mkdir()
        (folder / "exercises").symlink_to(tmp_path / "elsewhere")
    else:
        target.parent.mkdir(parents=True)
        if kind == "a link":
            target.symlink_to(outside)
        elif kind == "a device":
            target.symlink_to("/dev/zero")
        elif kind == "a pipe":
            os.mkfifo(target)
        elif kind == "a folder":
            target.mkdir()
    submission = take_in(folder, STAGE)
    assert not submission.texts
    assert submission.problems[MODULE]
    assert grade(STAGE, submission, SANDBOX, limits=LIMITS).points == 0
