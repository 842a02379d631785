"""Grading a class: several submissions side by side, and on from where a run was ended."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from .grade import Grade, HoleGrade, grade
from .history import Again, History
from .intake import take_in
from .report import Report
from .sandbox import Limits, Sandbox
from .settings import Settings

__all__ = ["grade_all"]


def grade_one(path: Path, settings: Settings, sandbox: Sandbox, seed: int, limits: Limits
              ) -> Report:
    """Grade all stages of one submission; what goes wrong here is a reason for no points."""
    grades = []
    for stage in settings.stages:
        try:
            grades.append(grade(stage, take_in(path, stage), sandbox, seed, limits))
        except OSError as error:
            holes = tuple(HoleGrade(hole.id, stage.words["hole"][hole.id]["title"], 0, hole.points,
                                    f"it could not be graded: {error}") for hole in stage.holes)
            grades.append(Grade(path.name, stage.key, holes, sandbox.kind, seed))
    hints = {hole.id: tuple(stage.words["hole"][hole.id]["hints"][: settings.hints])
             for stage in settings.stages for hole in stage.holes}
    report = Report(path.name or str(path), tuple(grades))
    return report.weighted(settings.weights).hinted(hints)


def grade_all(paths: list[Path], settings: Settings, sandbox: Sandbox, seed: int, workers: int,
              kept: Path | None, told: Callable[[Report], None],
              limits: Limits = Limits(),  # noqa: B008  # it is frozen
              again: Again | None = None) -> list[Report]:
    """Grade submissions with `workers` at a time.

    `kept` is the file of verdicts to go on from and to add to, see history.py; those that `again`
    wants are graded although they are known.
    """
    marks = {path: _mark(path, settings, seed) for path in paths}
    history = None if kept is None else History(kept)
    known = {} if history is None else history.known(again)
    done = {path: known[marks[path]] for path in paths if marks[path] in known}
    for path in done:
        told(done[path])
    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting = {pool.submit(grade_one, path, settings, sandbox, seed, limits): path
                   for path in paths if path not in done}
        try:
            for future in as_completed(waiting):
                path, report = waiting[future], future.result()
                done[path] = report
                if history is not None:
                    history.add(marks[path], report,
                                again.reason if again is not None and again.wants(path) else "")
                told(report)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [done[path] for path in paths]


def _mark(path: Path, settings: Settings, seed: int) -> str:
    """Return a mark of all that a report depends on."""
    digest = hashlib.sha256(f"{seed} {sorted(settings.weights.items())} {settings.hints}"
                            .encode())
    for stage in settings.stages:
        submission = take_in(path, stage)
        about = [stage.key, sorted(submission.texts.items()), sorted(submission.problems.items())]
        digest.update(json.dumps(about).encode("utf-8", "surrogatepass"))
    return f"{os.path.abspath(path)} {digest.hexdigest()}"

