"""Trying a learner's files: starts `swap.py` in a fresh process and reads what came of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .stages import Hole, Stage

__all__ = ["Outcome", "Trial", "debug_files", "module_name", "plan_for", "trial_of", "try_each",
           "try_files"]


@dataclass(frozen=True)
class Outcome:
    """How one test ended."""

    test: str
    holes: tuple[str, ...]
    passed: bool
    message: str = ""
    where: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Trial:
    """What came of trying some files on a stage's tests."""

    outcomes: tuple[Outcome, ...] = ()
    symptoms: dict[str, bool] = field(default_factory=dict)
    problem: str = ""  # why no test could run: an import that failed, a crash, the time limit

    def of(self, hole: Hole) -> list[Outcome]:
        """Return the outcomes of the tests for a hole."""
        return [each for each in self.outcomes if hole.id in each.holes]

    def solved(self, hole: Hole) -> bool:
        """Tell whether all tests for a hole ran and passed."""
        found = self.of(hole)
        return bool(found) and not self.problem and all(each.passed for each in found)

    def diagnosis(self, stage: Stage, hole: Hole) -> str | None:
        """Return the name of the first symptom that the hole knows and the code shows."""
        known = stage.symptoms_of(hole)
        return next((name for name in known if self.symptoms.get(name)), None)


#: Tests run the same way wherever the package lies: no settings but these are read.
_CONFIG = "[pytest]\nmarkers =\n    hole(id): the hole of the course that a test is for\n"


def module_name(path: str) -> str:
    """Return the import name of a module at `path` in the package.

    >>> module_name("engine/engine.py")
    'minigrad.engine.engine'
    """
    return ".".join(["minigrad", *Path(path).with_suffix("").parts]).removesuffix(".__init__")


def try_files(stage: Stage, files: dict[str, Path], holes: list[str] | None = None,
              timeout: float = 120, symptoms: bool = True) -> Trial:
    """Run the stage's tests with `files` (path in the package to file) swapped in.

    `holes` limits the tests to those for these holes.  A process that takes longer than `timeout`
    seconds is ended.
    """
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        command, report = plan_for(Path(folder), stage, files, holes, symptoms=str(stage.symptoms)
                                   if symptoms and stage.symptoms.is_file() else None)
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", cwd=stage.root,
                check=False, timeout=timeout, stdin=subprocess.DEVNULL, env=_environment())
        except subprocess.TimeoutExpired:
            return Trial(problem=f"it did not end within {timeout:.0f} seconds")
        if not report.is_file():
            told = done.stderr[-4000:]
            return Trial(problem=f"the process ended with {done.returncode}:\n{told}")
        return trial_of(json.loads(report.read_text(encoding="utf-8")))


def try_each(stage: Stage, tries: Sequence[tuple[dict[str, Path], list[str]]],
             timeout: int = 120, symptoms: bool = False) -> list[Trial]:
    """Run the stage's tests for each pair of files and holes, as `try_files` does but quicker.

    One process imports NumPy and pytest, and forks for each.
    """
    if not tries:
        return []
    if not hasattr(os, "fork"):
        return [try_files(stage, files, holes, timeout, symptoms) for files, holes in tries]
    file = str(stage.symptoms) if symptoms and stage.symptoms.is_file() else None
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        plans, reports = [], []
        for number, (files, holes) in enumerate(tries):
            inside = Path(folder, str(number))
            inside.mkdir()
            (*start, plan), report = plan_for(inside, stage, files, holes, seconds=timeout,
                                               symptoms=file)
            plans.append(plan)
            reports.append(report)
        subprocess.run([*start, *plans], capture_output=True, cwd=stage.root, check=False,
                       stdin=subprocess.DEVNULL, env=_environment())
        return [trial_of(json.loads(report.read_text(encoding="utf-8"))) if report.is_file() else
                Trial(problem=f"the process crashed or did not end within {timeout} seconds")
                for report in reports]


def debug_files(stage: Stage, files: dict[str, Path], holes: list[str]) -> Trial:
    """Run the stage's tests in this terminal, in a debugger from the first failure on.

    The outcome of each test stays there; what is returned says what kept them from running.
    """
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        command, report = plan_for(Path(folder), stage, files, holes, stop=True)
        with subprocess.Popen(command, cwd=stage.root, env=_environment()) as process:
            # Ctrl-C is for the debugger, which gets it too.
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                process.wait()
            finally:
                signal.signal(signal.SIGINT, before)
        if report.is_file():
            return trial_of(json.loads(report.read_text(encoding="utf-8")))
        return Trial(problem="" if process.returncode in (0, 1) else
                     f"the process ended with {process.returncode}")


def plan_for(folder: Path, stage: Stage, files: dict[str, Path], holes: list[str] | None,
             **more: object) -> tuple[list[str], Path]:
    """Write a plan; return the command that carries it out, and where the report will be."""
    plan, report = folder / "plan.json", folder / "report.json"
    config = folder / "pytest.ini"
    config.write_text(_CONFIG, encoding="utf-8")
    plan.write_text(json.dumps({
        "root": str(stage.package.parent), "helpers": str(stage.tests.parents[1]),
        "config": str(config), "report": str(report), "holes": holes,
        "files": {module_name(path): str(file.resolve()) for path, file in files.items()},
        "tests": [str(stage.tests)], **more,
    }), encoding="utf-8")
    return [sys.executable, str(Path(__file__).with_name("swap.py")), str(plan)], report


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def trial_of(report: dict[str, Any]) -> Trial:
    """Return what a report of `swap.py` says."""
    if not report["imported"]:
        return Trial(problem=report["import_error"])
    outcomes = tuple(
        Outcome(test, tuple(each["holes"]), each["outcome"] == "passed", each["message"],
                each["where"], each.get("detail", ""))
        for test, each in report["tests"].items())
    problem = "\n".join(report["errors"])
    if not outcomes and not problem:
        problem = f"no test ran:\n{report['printed']}"
    return Trial(outcomes, report["symptoms"], problem)
