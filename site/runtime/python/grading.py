"""Grades a learner's files in the page, with the terminal's own tests, diagnosis and second runs.

NOTE [One process for many trials]
    In a terminal each trial has a process of its own.  Here there is one: each trial imports the
    package and the tests for itself (`worlds.py`), and what `swap.py` changes in the interpreter is
    put back.

NOTE [Time limits in a page]
    A browser's Python has no timers, so the page counts the seconds and interrupts the code with
    the number of the timer's signal (`clock.Timers`).  From there on everything is as in a
    terminal: `time_limits.py` raises TimeLimit in the test, and the verdict names the line.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from clock import Timers
from worlds import World

ROOT = Path(__file__).parent
_NOT_HERE = "needs a thread or a process, which a page has not"
_ON_IMPORT = "your files print while they are imported:"


class Grader:
    """Tries a learner's files; the course's own modules are imported once and kept."""

    def __init__(self, told: Callable[[int, float, float], None] | None = None) -> None:
        """Grade with the time limits of the terminal.

        In a page, which has no timers, `told` gets the signal's number, the seconds until it is to
        come, and the seconds until it comes again; 0 seconds end it.
        """
        importlib.import_module("pytest")
        self.learner_files, self.stages, self.swap, self.trial, self.verdict, self.waiting = (
            importlib.import_module(f"minigrad_course.{name}")
            for name in ("running.learner_files", "content.stages", "child_process.swap",
                         "running.trial", "verdicts.verdict", "verdicts.waiting"))
        self.limit, self.stopped = self.trial.LIMIT, False
        self._timers = None if told is None else Timers(told)

    def grade(self, asked: str) -> str:
        """Try what `asked` says (JSON: stage, files, holes) and return the verdicts as JSON."""
        plan = json.loads(asked)
        stage = self.stages.find_stage(plan["stage"], ROOT)
        with tempfile.TemporaryDirectory() as named, self._stoppable():
            folder = Path(named).resolve()
            files = {}
            for path, text in plan["files"].items():
                files[path] = folder / "exercises" / path
                files[path].parent.mkdir(parents=True, exist_ok=True)
                files[path].write_text(text, encoding="utf-8")
            holes = [each for each in stage.holes if each.id in (plan.get("holes") or [each.id])]
            told = _Told(f"{folder}/exercises/", self.verdict)
            try:
                trial, left_out = self._tried(folder, stage, files, [each.id for each in holes])
            except KeyboardInterrupt:
                return json.dumps(told.problem("it was stopped"))
            found = [] if trial.problem else self.verdict.verdicts(stage, trial, holes)
            return json.dumps({**told.problem(trial.problem.strip(), trial.at),
                               "printed": told.printed(_ON_IMPORT, trial.printed),
                               "whole": told.whole(trial.whole),
                               "verdicts": [told.verdict(each) for each in found],
                               "left_out": {hole: list(tests) for hole, tests in left_out.items()}})

    def _tried(self, folder: Path, stage: Any, files: dict[str, Path], holes: list[str]
               ) -> tuple[Any, dict[str, dict[str, None]]]:
        """Return what `try_answers` does in a terminal, and the tests that were left out."""
        answers = self.learner_files.LearnerFiles(stage, files)
        left_out: dict[str, dict[str, None]] = {}

        def run(tested: list[str] | None, composed: Any, symptoms: bool, is_short: bool,
                only_first: bool = False) -> Any:
            inside = Path(tempfile.mkdtemp(dir=folder))
            command, report = self.trial.plan_for(
                inside, stage, files, tested, composed=composed,
                symptoms=str(stage.symptoms) if symptoms else None, stuck=str(inside / "stuck"),
                limit=self.limit / 3 if is_short else self.limit, stop_at_limit=only_first)
            return self._run(command[-1], report, left_out)

        def once(tested: list[str] | None, is_rest: bool) -> Any:
            return run(tested, answers.repaired(), not is_rest, is_rest,
                       is_rest and not stage.beside)

        def again(runs: Any, symptoms: bool) -> list[Any]:
            is_short = any(each for _, _, each in runs)
            return [run(list(tested), composed, symptoms, is_short) for composed, tested, _ in runs]

        first = once(holes, False)
        if first.problem and self.waiting.took_too_long(first.problem):
            return first, left_out
        return self.waiting.try_again(answers, first, holes, once, again), left_out

    def _run(self, plan: str, report: Path, left_out: dict[str, dict[str, None]]) -> Any:
        quiet = io.StringIO()  # nothing that is printed is lost: a failure tells of it
        timers = self._timers.installed() if self._timers else contextlib.nullcontext()
        with _as_before(), _without_threads(), timers, contextlib.redirect_stdout(quiet), \
                contextlib.redirect_stderr(quiet):
            self.swap.main(plan)
        if self.stopped:  # a test, or pytest, may have caught the KeyboardInterrupt
            raise KeyboardInterrupt
        read = json.loads(report.read_text(encoding="utf-8"))
        for name, each in list(read["tests"].items()):
            if _NOT_HERE in each["message"]:
                del read["tests"][name]
                for hole in each["holes"]:
                    left_out.setdefault(hole, {})[name.rpartition("::")[2]] = None
        return self.trial.trial_of(read)

    @contextlib.contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Note that the reader pressed Stop, whatever becomes of the exception."""
        def stop(number: int, frame: Any) -> None:
            self.stopped = True
            gc.freeze()  # pytest collects garbage as it ends, which would take most of the time
            raise KeyboardInterrupt

        self.stopped, before = False, signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
            gc.unfreeze()


class _Told:
    """Puts what was found into words and lists for the page, with the learner's paths as there."""

    def __init__(self, place: str, verdict: Any) -> None:
        self.place, self.module = place, verdict

    def problem(self, text: str, at: tuple[str, int] | None = None) -> dict[str, Any]:
        """Return why nothing could be tested, if so, and the line of the learner's in which."""
        return {"problem": self.clean(text), "line": at and self.line(f"{at[0]}:{at[1]}"),
                "printed": None, "whole": "", "verdicts": [], "left_out": {}}

    def verdict(self, verdict: Any) -> dict[str, Any]:
        """Return a verdict: what the terminal's `run` shows of it."""
        first = verdict.first
        return {
            "hole": verdict.hole.id, "title": verdict.title, "state": verdict.state,
            "is_right": verdict.is_right, "points": verdict.points,
            "diagnosis": verdict.diagnosis, "tests": verdict.tests,
            "failing": len(verdict.failing), "waits_for": verdict.waits_for,
            "needed": verdict.needed, "also": verdict.also,
            "printed": self.printed(*verdict.printed_first),
            "line": self.line(first.where) if first and verdict.state == "wrong" else None,
            "first": first and {"test": first.test.rpartition("::")[2],
                                "asked": self.module.failing_line(first),
                                "message": self.clean(first.message),
                                "where": self.clean(first.where),
                                "detail": self.clean(first.detail)},
        }

    def whole(self, whole: Any) -> str:
        """Return what came of all files below the whole package, and the first failure there."""
        if whole is None:
            return ""
        failing = [f"{each.test.rpartition('::')[2]}: {each.message}"
                   for each in whole.outcomes if not each.passed]
        return self.clean(" ".join([self.module.whole_package_sentence(whole), *failing[:1]]))

    def printed(self, head: str, text: str) -> dict[str, Any] | None:
        """Return printed text with its heading, as much of it as is shown."""
        lines, more = self.module.shown_lines(text)
        return {"head": head, "lines": lines, "more": more} if text else None

    def line(self, where: str) -> list[Any] | None:
        """Return path and number of a line in one of the learner's files; None if in another."""
        file, _, number = where.rpartition(":")
        inside = file.startswith(self.place) and number.isdecimal()
        return [file.removeprefix(self.place), int(number)] if inside else None

    def clean(self, text: str) -> str:
        """Return text with the learner's paths as the page names them."""
        return text.replace(self.place, "").replace(f"{ROOT}/", "")


@contextlib.contextmanager
def _as_before() -> Iterator[None]:
    """Put back what a trial changes in the interpreter."""
    with World().entered():
        try:
            yield
        finally:
            gc.enable()
    gc.collect()


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
