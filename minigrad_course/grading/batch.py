"""Grade a class: several submissions in parallel; an interrupted run resumes where it stopped."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from ..content.stages import CourseError, Stage
from .asking import probe_jobs
from .grade import Grade, HoleGrade, grade
from .history import Again, History
from .intake import Submission, take_in
from .printable import printable
from .report import Report
from .sandbox import Limits, Sandbox
from .settings import Settings

__all__ = ["could_not", "grade_all", "seed_for"]

#: The reason begins with this if grading itself failed, so the answer alone is not at fault.
NOT_GRADED = "it could not be graded"


def grade_one(path: Path, settings: Settings, sandbox: Sandbox, secret: int, limits: Limits
              ) -> Report:
    """Grade all stages of one submission; an error here becomes a reason for no points."""
    name, grades = _name(path), []
    for stage in settings.stages:
        seed = 0
        try:
            submission = take_in(path, stage)
            seed = seed_for(secret, stage, submission)
            grades.append(replace(grade(stage, submission, sandbox, seed, limits), submission=name))
        except Exception as error:
            holes = tuple(HoleGrade(hole.id, stage.words["hole"][hole.id]["title"], 0, hole.points,
                                    f"{NOT_GRADED}: {_said(error)}") for hole in stage.holes)
            grades.append(Grade(name, stage.key, holes, sandbox.method, seed))
    hints = {hole.id: tuple(stage.words["hole"][hole.id]["hints"][: settings.hints])
             for stage in settings.stages for hole in stage.holes}
    return Report(name, tuple(grades)).weighted(settings.weights).hinted(hints)


def seed_for(secret: int, stage: Stage, submission: Submission) -> int:
    """Return the seed of a submission's probes: a keyed hash of its text.

    Another text gets another seed, and the seed is unpredictable without the secret.
    """
    about = json.dumps([stage.key, sorted(submission.texts.items())])
    return int.from_bytes(hmac.digest(str(secret).encode(), about.encode(), "sha256")[:6])


def _name(path: Path) -> str:
    """Return a submission's name as text that every output format can store."""
    return os.fsencode(path.name or str(path)).decode("utf-8", "backslashreplace")


def _said(error: Exception) -> str:
    """Return an error as one line; a CourseError is a whole sentence already."""
    text = printable(str(error))[:300] if isinstance(error, CourseError | OSError) else ""
    return text or type(error).__name__


def grade_all(paths: list[Path], settings: Settings, sandbox: Sandbox, seed: int, workers: int,
              kept: Path | None, told: Callable[[Report], None],
              limits: Limits = Limits(),  # noqa: B008  # it is frozen
              again: Again | None = None,
              went_on: Callable[[int], None] = lambda known: None) -> list[Report]:
    """Grade submissions, `workers` at a time.

    Calls `went_on` once with the number of verdicts known from earlier, and `told` with each new
    report.  `kept` is the file of verdicts to resume from and append to, see history.py.
    Submissions that `again` wants are graded even if their verdict is known.
    """
    for stage in settings.stages:
        probe_jobs(stage, seed)  # an error in the course raises before any grading
    for path in paths:
        try:
            os.lstat(path)
        except FileNotFoundError as error:
            raise CourseError(f"cannot read {path}: {error.strerror}") from None
        except OSError:
            pass  # it exists; grading will report the error
    marks = {path: _mark(path, settings, seed) for path in paths}
    history = None if kept is None else History(kept)
    known = {} if history is None else history.known(again)
    done = {path: known[marks[path]] for path in paths if marks[path] in known}
    went_on(len(done))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting = {pool.submit(grade_one, path, settings, sandbox, seed, limits): path
                   for path in paths if path not in done}
        try:
            for future in as_completed(waiting):
                path, report = waiting[future], future.result()
                done[path] = report
                if history is not None and not could_not(report):
                    history.add(marks[path], report,
                                again.reason if again is not None and again.wants(path) else "")
                told(report)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [done[path] for path in paths]


def _mark(path: Path, settings: Settings, seed: int) -> str:
    """Return a key of everything that a report depends on."""
    digest = hashlib.sha256(f"{seed} {sorted(settings.weights.items())} {settings.hints}"
                            .encode())
    for stage in settings.stages:
        try:
            submission = take_in(path, stage)
        except Exception as error:  # grading will report it
            digest.update(repr(error).encode("utf-8", "backslashreplace"))
            continue
        about = [stage.key, sorted(submission.texts.items()), sorted(submission.problems.items())]
        digest.update(json.dumps(about).encode("utf-8", "surrogatepass"))
    return f"{os.path.abspath(path)} {digest.hexdigest()}"


def could_not(report: Report) -> bool:
    """Return whether grading failed; such a verdict is not kept, so the next run tries again."""
    return any(hole.reason.startswith(NOT_GRADED) for hole in report.holes)
