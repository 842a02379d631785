"""The graded process: run probes on the learner's engine and write what they return.

It is copied into the bundle and imports no other module of the course.  The parent decides by
comparing the output with what the reference engine returns.  If the job contains sealed modules,
they are loaded and closed before anything else (child_process/closing.py).

    child.py probes    read jobs as JSON from standard input, write a line of JSON for each
    child.py tests     run the stage's tests and, if one fails, its symptoms; write lines of JSON.
                       Standard input gives the tests already done, the exercises to leave out, the
                       seconds available, and the lines of each exercise
    child.py tests 03.1 03.2    run the tests for these exercises; symptoms only if each exercise
                                has its own bundle
"""

import importlib
import json
import os
import random
import re
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, TextIO


def plain(value: Any) -> Any:
    """Return a probe's value in a form for JSON that keeps its exact type."""
    value_type = type(value)
    if value is None or value_type in (bool, str):
        return value
    if value_type is int:
        return {"int": str(value)}
    if value_type is float:
        return {"float": value.hex()}
    if value_type in (list, tuple):
        return [value_type.__name__, *[plain(each) for each in value]]
    if value_type.__module__ == "numpy" and value_type.__name__ == "ndarray":
        return {"array": [float(each).hex() for each in value.ravel().tolist()],
                "shape": list(value.shape), "dtype": str(value.dtype)}
    return {"type": f"{value_type.__module__}.{value_type.__qualname__}"}


def keep_open() -> None:
    """Let no answer close standard output or errors, to which pytest still writes."""
    for stream in (sys.stdout, sys.stderr):
        stream.close = lambda: None  # type: ignore[method-assign]


def read_job() -> Any:
    """Read the job from standard input, and load the sealed modules in it."""
    given = json.load(sys.stdin)
    if not isinstance(given, dict) or "sealed" not in given:
        return given
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # it can't be read again
    inside = "minigrad_course.child_process"
    closing, copies = (importlib.import_module(f"{inside}.{each}")
                       for each in ("closing", "second_copy"))
    closing.load_and_close(given["sealed"], lambda: copies.prepare(given["hole"]))
    return given["job"]


def run_probes(out: TextIO) -> None:
    """Answer each job: a probe's name and a seed."""
    jobs = read_job()
    probes = importlib.import_module("probes")
    out.write(json.dumps({"ready": True}) + "\n")
    out.flush()

    for name, seed in jobs:
        try:
            answer = {"value": plain(getattr(probes, name)(random.Random(seed)))}
        except BaseException as error:
            answer = {"raises": type(error).__name__}
        out.write(json.dumps({"probe": name, "seed": seed, **answer}) + "\n")
        out.flush()


class Reporter:
    """A pytest plugin that writes which test begins, and its outcome."""

    def __init__(self, out: TextIO, wanted: list[str], job: dict[str, list[str]]) -> None:
        self.out, self.wanted = out, wanted
        self.done, self.without = set(job["done"]), set(job["without"])
        self.marks: dict[str, list[str]] = {}
        self.failed = False

    def write(self, line: dict[str, Any]) -> None:
        """Write a line immediately: the next test may end the process."""
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Record which exercises each test is for, and drop tests that are done or not wanted."""
        for item in items:
            self.marks[item.nodeid] = [mark.args[0] for mark in item.iter_markers("hole")]
        items[:] = [item for item in items if self._is_wanted(item.nodeid)]

    def _is_wanted(self, test: str) -> bool:
        marks = self.marks[test]
        return (test not in self.done and self.without.isdisjoint(marks)
                and (not self.wanted or not set(self.wanted).isdisjoint(marks)))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write which test begins."""
        self.write({"begins": nodeid, "holes": self.marks.get(nodeid, [])})

    def pytest_pyfunc_call(self) -> None:
        """Keep the streams open that pytest has set for this test."""
        keep_open()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Write that a test is over, even a skipped one."""
        self.write({"ends": nodeid})

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write the outcome of a test."""
        if report.when == "call" or report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            # `pytest.raises` and `pytest.warns` put their own error first
            open_hole = re.search(r"NotImplementedError: .* is yours to write", report.longreprtext)
            message = (open_hole[0] if open_hole and not report.passed else
                       crash.message if crash else str(report.longrepr or ""))
            self.failed |= not report.passed
            self.write({"test": report.nodeid, "holes": self.marks.get(report.nodeid, []),
                        "outcome": report.outcome, "message": message[:2000]})


def end_after(seconds: float, spans: dict[str, list[list[Any]]], reporter: Reporter) -> None:
    """End the process after some seconds, and report which exercise it is in.

    Code that never returns to Python is killed from outside a little later.
    """
    def end(number: int, frame: FrameType | None) -> None:
        while frame is not None:
            file, line = frame.f_code.co_filename.replace(os.sep, "/"), frame.f_lineno
            for path, in_file in spans.items():
                if file.endswith(f"site/minigrad/{path}"):
                    for first, last, hole in in_file:
                        if first <= line <= last:
                            reporter.write({"hangs_in": hole})
                            os._exit(1)
            frame = frame.f_back
        reporter.write({"hangs_in": ""})  # outside all exercises, or in a second copy of `op/`
        os._exit(1)

    if hasattr(signal, "setitimer"):  # not on Windows
        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def run_tests(out: TextIO, here: Path, wanted: list[str], has_one: bool) -> None:
    """Run the tests and, if one failed, the symptoms."""
    import pytest

    sys.dont_write_bytecode = True
    job = read_job()
    reporter = Reporter(out, wanted, job)
    end_after(job["seconds"], job["spans"], reporter)
    try:
        importlib.import_module("probes")
    except BaseException as error:
        reporter.write({"broken": f"{type(error).__name__}: {error}"[:300]})
        return
    reporter.write({"ready": True})
    pytest.main(["-q", "-p", "no:cacheprovider", "--tb=native",
                 "-c", str(here / "tests/pytest.ini"),
                 f"--rootdir={here / 'tests'}", str(here / "tests")], plugins=[reporter])
    if (wanted and not has_one) or not (reporter.failed or reporter.without):
        return
    reporter.write({"last": "symptoms"})
    begins = tuple(f"symptom_{each.replace('.', '_')}_" for each in wanted) or "symptom_"
    ended = tuple(f"symptom_{each.replace('.', '_')}_" for each in reporter.without)
    symptoms = importlib.import_module("symptoms")
    for name, check in list(vars(symptoms).items()):  # a warning adds its registry
        if name.startswith(begins) and not (ended and name.startswith(ended)):
            try:
                shown = check() is True
            except Exception:
                shown = False
            if shown:
                reporter.write({"symptom": name.removeprefix("symptom_")})


def main() -> None:
    """Run the requested job, with standard output reserved for the answers."""
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here / "site"), str(here), str(here / "tests")]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.environ["MINIGRAD_GENERIC"] = "1"
    keep_open()
    beside = here / "beside.json"
    if beside.is_file():
        os.environ["MINIGRAD_BESIDE"] = str(beside)
    if sys.argv[1] == "probes":
        run_probes(out)
    else:
        run_tests(out, here, sys.argv[2:], beside.is_file())
    out.flush()
    os._exit(0)  # threads left by an answer must not keep the process alive


if __name__ == "__main__":
    main()
