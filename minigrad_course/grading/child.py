"""The graded process: runs probes on the learner's engine and writes what they return.

It is copied into the bundle and imports nothing but what is there.  What it writes decides
nothing by itself: the parent compares it with what the reference engine returns.

    child.py probes    jobs as JSON on standard input, a line of JSON for each on standard output
    child.py tests     the stage's tests and symptoms, what they gave as lines of JSON
    child.py tests 03.1 03.2    the tests for these exercises, and no symptoms, unless each
                                exercise is in a bundle of its own
"""

import importlib
import json
import os
import random
import re
import sys
from pathlib import Path
from typing import Any, TextIO


def plain(value: Any) -> Any:
    """Return a probe's value as JSON holds it, told apart by exact type."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return {"int": str(value)}
    if kind is float:
        return {"float": value.hex()}
    if kind in (list, tuple):
        return [kind.__name__, *[plain(each) for each in value]]
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        return {"array": [float(each).hex() for each in value.ravel().tolist()],
                "shape": list(value.shape), "dtype": str(value.dtype)}
    return {"type": f"{kind.__module__}.{kind.__qualname__}"}


def run_probes(out: TextIO) -> None:
    """Answer each job: a probe's name and a seed."""
    jobs = json.load(sys.stdin)
    probes = importlib.import_module("probes")
    out.write(json.dumps({"ready": True}) + "\n")
    out.flush()

    for name, seed in jobs:
        try:
            answer = {"value": plain(getattr(probes, name)(random.Random(seed)))}
        except Exception as error:
            answer = {"raises": type(error).__name__, "text": str(error)[:300]}
        except BaseException as error:
            answer = {"raises": type(error).__name__, "text": ""}
        out.write(json.dumps({"probe": name, "seed": seed, **answer}) + "\n")
        out.flush()


class Reporter:
    """Writes the outcome of each test."""

    def __init__(self, out: TextIO, wanted: list[str]) -> None:
        self.out, self.wanted = out, wanted
        self.marks: dict[str, list[str]] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep which holes each test is for, and leave out the tests for holes not wanted."""
        for item in items:
            self.marks[item.nodeid] = [mark.args[0] for mark in item.iter_markers("hole")]
        if self.wanted:
            items[:] = [item for item in items
                        if not set(self.wanted).isdisjoint(self.marks[item.nodeid])]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write a line."""
        if report.when == "call" or report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            # `pytest.raises` and `pytest.warns` tell of themselves first
            open_hole = re.search(r"NotImplementedError: .* is yours to write", report.longreprtext)
            message = (open_hole[0] if open_hole and not report.passed else
                       crash.message if crash else str(report.longrepr or ""))
            line = {"test": report.nodeid, "holes": self.marks.get(report.nodeid, []),
                    "outcome": report.outcome,
                    "message": message[:2000]}
            self.out.write(json.dumps(line) + "\n")
            self.out.flush()


def main() -> None:
    """Do what is asked, with standard output kept for the answers alone."""
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here / "site"), str(here), str(here / "tests")]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.environ["MINIGRAD_GENERIC"] = "1"
    beside = here / "beside.json"
    if beside.is_file():
        os.environ["MINIGRAD_BESIDE"] = str(beside)
    if sys.argv[1] == "probes":
        run_probes(out)
        return
    import pytest

    sys.dont_write_bytecode = True
    wanted = sys.argv[2:]
    pytest.main(["-q", "-p", "no:cacheprovider", "--tb=native",
                 "-c", str(here / "tests/pytest.ini"),
                 f"--rootdir={here / 'tests'}", str(here / "tests")],
                plugins=[Reporter(out, wanted)])
    if wanted and not beside.is_file():
        return
    begins = tuple(f"symptom_{each.replace('.', '_')}_" for each in wanted) or "symptom_"
    symptoms = importlib.import_module("symptoms")
    for name, check in list(vars(symptoms).items()):  # a warning adds its registry
        if name.startswith(begins):
            try:
                shown = check() is True
            except Exception:
                shown = False
            if shown:
                out.write(json.dumps({"symptom": name.removeprefix("symptom_")}) + "\n")
                out.flush()


if __name__ == "__main__":
    main()
