"""Grades a learner's files in the page, with the terminal's own tests and diagnosis.

NOTE [One process for many trials]
    In a terminal each trial has a process of its own.  Here there is one: before and after a
    trial the package and the tests are taken out of `sys.modules`, and what `swap.py` changes in
    the interpreter is put back.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
_NOT_HERE = "needs a thread or a process, which a page has not"
_OURS = re.compile(r"minigrad(\.|$)|_oracle$|test_|minigrad_symptoms$")


class Grader:
    """Tries a learner's files; the course's own modules are imported once and kept."""

    def __init__(self) -> None:
        importlib.import_module("pytest")
        self.stages, self.swap, self.trial, self.verdict = (
            importlib.import_module(f"minigrad_course.{name}")
            for name in ("stages", "swap", "trial", "verdict"))
        _purge()

    def grade(self, asked: str) -> str:
        """Try what `asked` says (JSON: stage, files, holes) and return the verdicts as JSON."""
        plan = json.loads(asked)
        stage = self.stages.find_stage(plan["stage"], ROOT)
        with tempfile.TemporaryDirectory() as folder:
            files = {}
            for path, text in plan["files"].items():
                files[path] = Path(folder, "exercises", path)
                files[path].parent.mkdir(parents=True, exist_ok=True)
                files[path].write_text(text, encoding="utf-8")
            holes = [each for each in stage.holes if each.id in (plan.get("holes") or [each.id])]
            trial, left_out = self._tried(Path(folder), stage, files, holes)
        place = f"{folder}/exercises/"
        if trial.problem:
            problem = trial.problem.replace(place, "").strip()
            return json.dumps({"problem": problem, "verdicts": [], "left_out": left_out})
        found = self.verdict.verdicts(stage, trial, holes)
        return json.dumps({"problem": "", "left_out": left_out,
                           "verdicts": [_told(each, place) for each in found]})

    def _tried(self, folder: Path, stage: Any, files: dict[str, Path], holes: list[Any]
               ) -> tuple[Any, dict[str, list[str]]]:
        command, report = self.trial.plan_for(
            folder, stage, files, [each.id for each in holes], symptoms=str(stage.symptoms))
        quiet = io.StringIO()  # nothing that is printed is lost: a failure tells of it
        with _as_before(), _without_threads(), contextlib.redirect_stdout(quiet), \
                contextlib.redirect_stderr(quiet):
            self.swap.main(command[-1])
        read = json.loads(report.read_text(encoding="utf-8"))
        left_out: dict[str, list[str]] = {}
        for name, each in list(read["tests"].items()):
            if _NOT_HERE in each["message"]:
                del read["tests"][name]
                for hole in each["holes"]:
                    left_out.setdefault(hole, []).append(name.rpartition("::")[2])
        return self.trial.trial_of(read), left_out


def _told(verdict: Any, place: str) -> dict[str, Any]:
    first = verdict.first
    return {
        "hole": verdict.hole.id, "title": verdict.title, "state": verdict.state,
        "points": verdict.points, "diagnosis": verdict.diagnosis, "tests": verdict.tests,
        "failing": len(verdict.failing), "waits_for": verdict.waits_for,
        "first": first and {"test": first.test.rpartition("::")[2],
                            "message": first.message.replace(place, ""),
                            "where": first.where.replace(place, "").replace(f"{ROOT}/", ""),
                            "detail": first.detail.replace(place, "")},
    }


def _purge() -> None:
    for name in [each for each in sys.modules if _OURS.match(each)]:
        del sys.modules[name]
    importlib.invalidate_caches()
    gc.collect()


@contextlib.contextmanager
def _as_before() -> Iterator[None]:
    """Put back what a trial changes in the interpreter."""
    path, finders, environment = list(sys.path), list(sys.meta_path), dict(os.environ)
    writes, limit = sys.dont_write_bytecode, sys.getrecursionlimit()
    _purge()
    try:
        yield
    finally:
        sys.path[:], sys.meta_path[:] = path, finders
        os.environ.clear()
        os.environ.update(environment)
        sys.dont_write_bytecode = writes
        sys.setrecursionlimit(limit)
        gc.enable()
        _purge()


@contextlib.contextmanager
def _without_threads() -> Iterator[None]:
    """Let a test that starts a thread be skipped, with a reason that is found again."""
    import pytest

    def start(self: threading.Thread) -> None:
        pytest.skip(_NOT_HERE)

    before, threading.Thread.start = threading.Thread.start, start  # type: ignore[method-assign]
    try:
        yield
    finally:
        threading.Thread.start = before  # type: ignore[method-assign]
