"""Run a stage's tests on a learner's files in a fresh process, and read the outcomes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

from ..child_process import swap
from ..content.stages import CourseError, Hole, Stage
from .compose import Source
from .failure_text import plain_failure
from .hang_log import read_hang_log
from .learner_files import LearnerFiles
from .one_thread import ONE_THREAD
from .stoppable_process import run_until

__all__ = ["LIMIT", "Outcome", "Trial", "as_plan", "debug_files", "module_name", "plan_for",
           "trial_of", "try_each", "try_files", "unreadable", "unwritten"]

#: The time limit in seconds for the tests of one exercise.
LIMIT = 10.0

_UNWRITTEN = re.compile(r"\b(\w+\.\d+) .* is yours to write")
_UNREADABLE = re.compile(r"\b(\w+\.\d+) cannot be read: (.*)")


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test."""

    test: str
    holes: tuple[str, ...]
    passed: bool
    message: str = ""
    where: str = ""
    detail: str = ""
    printed: tuple[tuple[str, str], ...] = ()  # by exercise; "" for functions outside exercises


@dataclass(frozen=True)
class Trial:
    """The result of running a stage's tests on some files."""

    outcomes: tuple[Outcome, ...] = ()
    symptoms: dict[str, bool] = field(default_factory=dict)
    problem: str = ""  # why no test could run: a failed import, a crash, the time limit
    printed: str = ""  # during the import of the files
    at: tuple[str, int] | None = None  # the learner's file and line that raised the problem
    #: Right answers, and the exercises without which their tests fail; see waiting.py.
    waits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: For a stage that is tested beside the package: the trial of its files below the package.
    whole: Trial | None = None
    #: A sentence for each exercise whose function was deleted.
    gone: dict[str, str] = field(default_factory=dict)

    def of(self, hole: Hole) -> list[Outcome]:
        """Return the outcomes of the tests for an exercise."""
        return [each for each in self.outcomes if hole.id in each.holes]

    def solved(self, hole: Hole) -> bool:
        """Return whether all tests for an exercise ran and passed."""
        found = self.of(hole)
        return bool(found) and not self.problem and all(each.passed for each in found)

    def diagnosis(self, stage: Stage, hole: Hole) -> str | None:
        """Return the first of the exercise's symptoms that the code shows, or `None`."""
        known = stage.symptoms_of(hole)
        return next((name for name in known if self.symptoms.get(name)), None)


#: The only pytest settings, so that tests run the same wherever the package is.
_CONFIG = "[pytest]\nmarkers =\n    hole(id): the hole of the course that a test is for\n"


def module_name(path: str) -> str:
    """Return the import name of a module at `path` in the package.

    >>> module_name("engine/engine.py")
    'minigrad.engine.engine'
    """
    return ".".join(["minigrad", *Path(path).with_suffix("").parts]).removesuffix(".__init__")


def try_files(stage: Stage, files: dict[str, Path], holes: list[str] | None = None,
              timeout: float = 120, symptoms: bool = True, limit: float | None = None,
              stop: Event | None = None, only_first: bool = False,
              composed: Mapping[str, Source] | None = None) -> Trial:
    """Run the stage's tests with `files` (path in the package to file) swapped in.

    `holes` limits the tests to those for these exercises.  The process is killed after `timeout`
    seconds, or when `stop` is set.  With `limit`, the tests of each exercise end after that many
    seconds; with `only_first`, the tests after such an exercise are left out.  A module in
    `composed` replaces the file at its path.
    """
    count = len(stage.holes if holes is None else holes)
    timeout = timeout if limit is None else _longest(limit, count)
    more: dict[str, object] = {} if limit is None else {"limit": limit, "stop_at_limit": only_first}
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        command, _ = plan_for(Path(folder), stage, files, holes, symptoms=str(stage.symptoms)
                              if symptoms and stage.symptoms.is_file() else None,
                              stuck=str(Path(folder, "stuck")), composed=composed, **more)
        try:
            code, told = run_until(command, stage.root, _environment(), timeout, stop)
        except subprocess.TimeoutExpired:
            return Trial(problem=f"it did not end within {timeout:.0f} seconds")
        return _trial_in(Path(folder), f"{told[-4000:]}\nthe process ended with status {code}")


def try_each(stage: Stage, tries: Sequence[tuple[dict[str, Path], list[str]]],
             timeout: int = 120, symptoms: bool = False,
             composed: Sequence[Mapping[str, Source]] | None = None, limit: float | None = None,
             stop: Event | None = None) -> list[Trial]:
    """Run the stage's tests for each pair of files and exercises, faster than `try_files`.

    One process imports NumPy and pytest, and forks for each pair.  `composed` has the composed
    modules for each pair.  With `limit`, the tests of each exercise end after that many seconds.
    """
    if not tries:
        return []
    made = composed or [{}] * len(tries)
    if not hasattr(os, "fork"):
        return [try_files(stage, files, holes, timeout, symptoms, limit, stop, composed=each)
                for (files, holes), each in zip(tries, made, strict=True)]
    file = str(stage.symptoms) if symptoms and stage.symptoms.is_file() else None
    more: dict[str, object] = {} if limit is None else {"limit": limit}
    longest = sum(timeout + 10 if limit is None else _longest(limit, len(holes))
                  for _, holes in tries)
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        plans, folders = [], []
        for number, (files, holes) in enumerate(tries):
            inside = Path(folder, str(number))
            inside.mkdir()
            (*start, plan), _ = plan_for(inside, stage, files, holes, seconds=timeout,
                                         symptoms=file, stuck=str(inside / "stuck"),
                                         composed=made[number], **more)
            plans.append(plan)
            folders.append(inside)
        with contextlib.suppress(subprocess.TimeoutExpired):
            run_until([*start, *plans], stage.root, _environment(), 60 + longest, stop)
        return [_trial_in(each, "the process crashed or did not end within "
                                f"{timeout if limit is None else limit:g} seconds")
                for each in folders]


def _longest(limit: float, count: int) -> float:
    """Return the maximum time for the tests of `count` exercises with a limit for each."""
    return 3 * limit * (count + 2) + 30


def _trial_in(folder: Path, otherwise: str) -> Trial:
    """Return the trial that a process left in `folder`, or one that reports the problem."""
    try:
        plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
        report = Path(plan["report"])
        if report.is_file():
            return trial_of(json.loads(report.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Trial(problem="a temporary file of this run was deleted; run it again")
    ended = read_hang_log(folder / "stuck", plan) if plan.get("limit") else None
    if ended is None:
        status = folder / "status"  # what `main_each` of swap.py writes
        if status.is_file() and int(code := status.read_text(encoding="utf-8")) != -signal.SIGALRM:
            otherwise = f"the process ended with status {code}"
        return Trial(problem=otherwise)
    number, test, message = ended
    return Trial((Outcome(test, (number,), False, message),))


def debug_files(stage: Stage, files: dict[str, Path], holes: list[str],
                composed: Mapping[str, Source] | None = None) -> Trial:
    """Run the stage's tests in this terminal, and enter a debugger at the first failure.

    The returned trial only has the problem that kept the tests from running, if any.
    """
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        command, report = plan_for(Path(folder), stage, files, holes, stop=True,
                                   composed=composed)
        with subprocess.Popen(command, cwd=stage.root, env=_environment()) as process:
            # Ctrl-C is for the debugger, which receives it as well.
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                process.wait()
            finally:
                signal.signal(signal.SIGINT, before)
        if report.is_file():
            return trial_of(json.loads(report.read_text(encoding="utf-8")))
        return Trial(problem="" if process.returncode in (0, 1) else
                     f"the process ended with status {process.returncode}")


def plan_for(folder: Path, stage: Stage, files: dict[str, Path], holes: list[str] | None,
             composed: Mapping[str, Source] | None = None, **more: object
             ) -> tuple[list[str], Path]:
    """Write a plan; return the command that executes it, and the path of its report.

    The plan contains the modules of a stage that is tested beside the package once per exercise.
    For the tests marked with the stage's number, they are swapped in below the package instead.
    Raises CourseError if pytest is not installed.
    """
    if find_spec("pytest") is None:
        raise CourseError("testing answers needs pytest, which is not installed: "
                          "pip install -e '.[course]'")
    if stage.beside and holes == [stage.number]:
        stage, more = replace(stage, beside=False), {**more, "symptoms": None}
    composed, beside = composed or {}, {}
    swapped = {path: file for path, file in files.items()
               if not (stage.beside and path in stage.modules)}
    if stage.beside:
        answers = LearnerFiles(
            stage, {path: file for path, file in files.items() if path not in swapped},
            {path: source for path, source in composed.items() if path not in swapped})
        beside = {hole.id: answers.alone(hole) for hole in stage.holes
                  if holes is None or hole.id in holes}
        composed = {path: source for path, source in composed.items() if path in swapped}
    plan, report = folder / "plan.json", folder / "report.json"
    config = folder / "pytest.ini"
    config.write_text(_CONFIG, encoding="utf-8")
    plan.write_text(json.dumps({
        "root": str(stage.package.parent), "helpers": str(stage.tests.parents[1]),
        "config": str(config), "report": str(report), "holes": holes,
        "files": {module_name(path): str(file.resolve()) for path, file in swapped.items()},
        "tests": [str(stage.tests)], "functions": _functions(stage, files),
        "composed": as_plan(composed), "own": _own(stage, [composed, *beside.values()]),
        "beside": {hole: as_plan(modules) for hole, modules in beside.items()}, **more,
    }), encoding="utf-8")
    return [sys.executable, swap.__file__, str(plan)], report


def _functions(stage: Stage, files: dict[str, Path]) -> list[tuple[str, str, str]]:
    """Return the exercise number, file and name of each function in an exercise."""
    symbols = ((hole.id, *symbol.partition(":")[::2]) for hole in stage.holes
               for symbol in hole.symbols)
    return [(number, str(files[path].resolve()), name)
            for number, path, name in symbols if path in files]


def _own(stage: Stage, composed: Sequence[Mapping[str, Source]]) -> list[str]:
    """Return the learner's files that have code in composed modules."""
    files = {line.file for modules in composed for source in modules.values()
             for line in source.lines}
    package = stage.package.resolve()
    return sorted(each for each in files if not Path(each).is_relative_to(package))


def as_plan(composed: Mapping[str, Source] | None) -> dict[str, Any]:
    """Return composed modules in the form of a plan, by their import names."""
    plan: dict[str, Any] = {}
    for path, source in (composed or {}).items():
        files = list(dict.fromkeys([source.file, *(line.file for line in source.lines)]))
        plan[module_name(path)] = {
            "text": source.text, "files": files,
            "lines": [[files.index(line.file), line.number] for line in source.lines]}
    return plan


def _environment() -> dict[str, str]:
    return {**os.environ, **ONE_THREAD}


def trial_of(report: dict[str, Any]) -> Trial:
    """Return the trial in a report of `swap.py`."""
    printed = "".join(report.get("printed_on_import", {}).values())
    if not report["imported"]:
        line = report.get("import_line")
        return Trial(problem=report["import_error"], printed=printed,
                     at=None if line is None else (line[0], line[1]))
    outcomes = tuple(
        Outcome(test, tuple(each["holes"]), each["outcome"] == "passed",
                plain_failure(each["message"]), each["where"],
                plain_failure(each.get("detail", "")),
                tuple(each.get("printed", {}).items()))
        for test, each in report["tests"].items())
    problem = "\n".join(report["errors"])
    if not outcomes and not problem:
        problem = f"no test ran:\n{report['printed']}"
    return Trial(outcomes, report["symptoms"], problem, printed)


def unwritten(message: str) -> str | None:
    """Return the number of the unwritten exercise that a test failed in, or `None`.

    >>> unwritten("NotImplementedError: 03.2 Dependencies is yours to write")
    '03.2'
    """
    found = _UNWRITTEN.search(message)
    return None if found is None else found[1]


def unreadable(message: str) -> tuple[str, str] | None:
    """Return the number of the unparsable exercise that a test failed in, and the error, or `None`.

    >>> unreadable("SyntaxError: 03.2 cannot be read: invalid syntax (engine.py, line 3)")
    ('03.2', 'invalid syntax (engine.py, line 3)')
    """
    found = _UNREADABLE.search(message)
    return None if found is None else (found[1], found[2])
