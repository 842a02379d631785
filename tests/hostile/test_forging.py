"""Answers that were not computed: forged output, changed graders, answers from elsewhere."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from tests.support.attacks import SOLUTION, STAGE, added, each_sandbox, graded, in_probes
from tests.support.slow import one_in

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
        for path in ({str(STAGE.root)!r}, "/work", "/root", "/home", "/tmp",
                     "/dev/shm"):
            for found in pathlib.Path(path).glob("**/solutions/07_grad_mode.py"):
                exec(found.read_text(), globals())
    """,
    "a constant mode": "is_grad_enabled = lambda: True",
    "the answers of whoever calls": """
        import gc, json, os
        for each in gc.get_objects():
            if isinstance(each, dict) and "expected" in each:
                os.write(3, json.dumps(each["expected"]).encode())
    """,
    "answers of odd types": """
        import json, os, sys
        jobs = json.loads(os.pread(0, 1 << 20, 0))
        values = [{"float": 3}, {"array": [None], "shape": [], "dtype": "float64"}, {"int": []},
                  None, [], {}, {"type": "x"}, [[[[]]]], {"float": "nan"}, {"array": {}}]
        lines = [{"ready": True}] + [{"probe": name, "seed": seed, "value": values[i % len(values)]}
                                     for i, (name, seed) in enumerate(jobs)]
        os.write(3, "".join(json.dumps(each) + "\\n" for each in lines).encode())
        os._exit(0)
    """,
    "the same answer to all": """
        import json, os, sys
        jobs = json.loads(os.pread(0, 1 << 20, 0))
        lines = [{"ready": True}] + [{"probe": name, "seed": seed, "value": True}
                                     for name, seed in jobs]
        os.write(3, "".join(json.dumps(each) + "\\n" for each in lines).encode())
        os._exit(0)
    """,
    "answers in another order": """
        import json, os, sys
        jobs = json.loads(os.pread(0, 1 << 20, 0))
        lines = [{"ready": True}] + [{"probe": name, "seed": seed, "raises": "ValueError"}
                                     for name, seed in reversed(jobs)]
        os.write(3, "".join(json.dumps(each) + "\\n" for each in lines).encode())
        os._exit(0)
    """,
    "two answers to each": """
        import json, os, sys
        jobs = json.loads(os.pread(0, 1 << 20, 0))
        lines = [{"ready": True}]
        for name, seed in jobs:
            lines += [{"probe": name, "seed": seed, "value": value} for value in (True, False)]
        os.write(3, "".join(json.dumps(each) + "\\n" for each in lines).encode())
        os._exit(0)
    """,
    "jobs of its own": """
        import sys
        frame = sys._getframe()
        while frame:
            if isinstance(frame.f_locals.get("jobs"), list):
                frame.f_locals["jobs"].clear()
            frame = frame.f_back
    """,
    "a constant for every seed": """
        import random
        class Same(random.Random):
            def __init__(self, seed=None): super().__init__(7)
        random.Random = Same
    """,
    "plain that lies": """
        import sys
        child = sys.modules["__main__"]
        import gc, types
        for each in gc.get_objects():
            if isinstance(each, dict) and "plain" in each and "run_probes" in each:
                each["plain"] = lambda value: True
    """,
    "the generated functions": """
        from minigrad.codegen import backward_loop
        globals().update(vars(backward_loop))
    """,
    "the generated functions by their path": """
        import importlib.util, os, minigrad
        path = os.path.join(os.path.dirname(minigrad.__file__), "codegen", "__init__.py")
        spec = importlib.util.spec_from_file_location("twins", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        globals().update(vars(module))
    """,
    "the checkout by an archive": """
        import glob, sys
        sys.path[:0] = glob.glob("/**/minigrad*.whl", recursive=True)
        from minigrad.autograd import grad_mode
        globals().update(vars(grad_mode))
    """,
    "the package of somebody's environment": """
        import glob, sys
        for path in glob.glob("/**/site-packages", recursive=True) + glob.glob(
                "/**/dist-packages", recursive=True):
            sys.path.insert(0, path)
        sys.modules.pop("minigrad", None)
        import minigrad.autograd.grad_mode as original
        globals().update(vars(original))
    """,
    "another bundle": """
        import glob
        for path in glob.glob("/tmp/*/site/minigrad/autograd/grad_mode.py") + glob.glob(
                "/dev/shm/*/site/minigrad/autograd/grad_mode.py"):
            text = open(path).read()
            if "NotImplementedError" not in text:
                exec(text, globals())
    """,
    "the answers from a server": """
        import socket
        server = socket.create_connection(("127.0.0.1", 80), 1)
        server.sendall(open(__file__, "rb").read())
        exec(server.recv(1 << 20), globals())
    """,
    "tests that are gone": """
        import os, pathlib, sys
        for path in pathlib.Path(sys.argv[0]).parent.glob("tests/*"):
            path.unlink()
        os._exit(0)
    """,
    "questions that are easy": """
        import probing, random
        probing.array = probing.tensor = lambda *a, **k: None
        probing.tried = lambda *a, **k: []
        random.Random.uniform = random.Random.randrange = lambda self, *a: 0
    """,
    "probes that are read in another way": """
        import importlib.machinery as machinery
        read = machinery.SourceFileLoader.get_data
        machinery.SourceFileLoader.get_data = lambda self, path: (
            b"def __getattr__(name): return lambda random: []" if "probes" in path
            else read(self, path))
    """,
    "a thread that goes on answering": """
        import json, os, threading
        def answer():
            while True:
                for name in ("probe_07_1", "probe_07_5"):
                    os.write(3, json.dumps({"probe": name, "seed": 1, "value": []}).encode()
                             + b"\\n")
        threading.Thread(target=answer, daemon=True).start()
    """,
    "arrays that are equal to all": """
        import numpy, builtins
        class Equal(numpy.ndarray):
            def __eq__(self, other): return True
            def __array_ufunc__(self, *a, **k): return True
            def __array_function__(self, *a, **k): return True
            def tolist(self): return []
        numpy.array = numpy.asarray = lambda *a, **k: numpy.zeros(0).view(Equal)
        builtins.isinstance = lambda *a: True
    """,
    "a collector that changes the answers": """
        import gc, sys
        def change(phase, about):
            for each in gc.get_objects():
                if type(each) is dict and "probe" in each and "seed" in each:
                    each.update(value=[], raises="x")
        gc.callbacks.append(change)
        gc.set_threshold(1)
    """,
    "signals in the middle": """
        import signal
        def jump(number, frame):
            while frame:
                if "answer" in frame.f_locals: frame.f_locals["answer"]["value"] = []
                frame = frame.f_back
        signal.signal(signal.SIGALRM, jump)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    """,
    "modules of another name": """
        import sys, types
        class Any(types.ModuleType):
            def __getattr__(self, name): return lambda *a, **k: None
        for name in ("json", "random", "symptoms", "_oracle", "test_07_grad_mode", "answers"):
            sys.modules[name] = Any(name)
    """,
    "warnings and traces": """
        import linecache, sys, warnings
        warnings.showwarning = warnings.warn = lambda *a, **k: None
        linecache.getlines = linecache.getline = lambda *a, **k: ""
        sys.excepthook = sys.unraisablehook = lambda *a: None
        def trace(frame, event, value):
            if event == "line" and frame.f_code.co_name == "run_probes":
                frame.f_locals["jobs"] = []
            return trace
        sys.settrace(trace)
        sys._getframe(1).f_trace = trace
    """,
    "the memory of Python itself": """
        import ctypes
        one = ctypes.cast(id(257) + 24, ctypes.POINTER(ctypes.c_uint32))
        one[0] = 258
        true = ctypes.cast(id(False) + 24, ctypes.POINTER(ctypes.c_uint32))
        true[0] = 1
    """,
    "a string whose method returns a false answer": """
        import ctypes, json.encoder
        json.encoder.c_make_encoder = None
        json.encoder.encode_basestring_ascii = lambda text: '"value"'
        json.encoder.JSONEncoder.iterencode = lambda self, value, *a: iter(["true"])
    """,
    "probes of its own on disk": """
        import pathlib, sys
        pathlib.Path(sys.argv[0]).with_name("probes.py").write_text("")
    """,
}


@each_sandbox
@pytest.mark.parametrize("where", [added, in_probes], ids=["tests", "probes"])
@pytest.mark.parametrize("attack", [next(iter(FORGING)), *one_in(2, list(FORGING)[1:])])
def test_forging_gives_no_points(attack, where, sandbox, tmp_path):
    result = graded(where(FORGING[attack]), tmp_path, sandbox)
    assert result.points == 0
    assert all(hole.reason for hole in result.holes)


@each_sandbox
def test_the_solution_gets_all_points(sandbox, tmp_path):
    result = graded(SOLUTION, tmp_path, sandbox)
    assert [hole.reason for hole in result.holes] == [""] * len(STAGE.holes)
    assert result.points == result.max_points == 10


@each_sandbox
@pytest.mark.slow
def test_forged_tests_alone_give_nothing_and_take_nothing(sandbox, tmp_path):
    """With all tests forged the probes decide."""
    forged = in_probes("").removeprefix(added(""))
    assert graded(in_probes(""), tmp_path, sandbox).points == 0
    assert graded(SOLUTION + textwrap.dedent(forged), tmp_path, sandbox).points == 10
