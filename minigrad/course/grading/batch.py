"""Grading a class: several submissions side by side, and on from where a run was ended.

NOTE [Going on]
    Each report is one line of `results.jsonl`, written whole when it is known.  A run that goes on
    takes those lines whose submission, content, stages and seed are what they were; a last line
    that was cut off is no line.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from ..stages import CourseError
from .grade import Grade, HoleGrade, grade
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
    return Report(path.name or str(path), tuple(grades)).weighted(settings.weights)


def grade_all(paths: list[Path], settings: Settings, sandbox: Sandbox, seed: int, workers: int,
              kept: Path | None, told: Callable[[Report], None],
              limits: Limits = Limits()) -> list[Report]:  # noqa: B008  # it is frozen
    """Grade submissions with `workers` at a time; `kept` is the file to go on from and to write."""
    marks = {path: _mark(path, settings, seed) for path in paths}
    known = dict(_known(kept)) if kept is not None else {}
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
                if kept is not None:
                    _keep(kept, marks[path], report)
                told(report)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [done[path] for path in paths]


def _mark(path: Path, settings: Settings, seed: int) -> str:
    """Return a mark of all that a report depends on."""
    digest = hashlib.sha256(f"{seed} {sorted(settings.weights.items())}".encode())
    for stage in settings.stages:
        submission = take_in(path, stage)
        about = [stage.key, sorted(submission.texts.items()), sorted(submission.problems.items())]
        digest.update(json.dumps(about).encode("utf-8", "surrogatepass"))
    return f"{os.path.abspath(path)} {digest.hexdigest()}"


def _known(kept: Path) -> Iterator[tuple[str, Report]]:
    try:
        lines = kept.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return
    except OSError as error:
        raise CourseError(f"{kept} cannot be read: {error.strerror}") from None
    for line in lines:
        try:
            read = json.loads(line)
            yield read["mark"], Report.from_dict(read["report"])
        except (ValueError, KeyError, TypeError):
            continue  # the rest of a line that was cut off


def _keep(kept: Path, mark: str, report: Report) -> None:
    line = json.dumps({"mark": mark, "report": report.as_dict()}) + "\n"
    with open(kept, "ab") as file:
        if file.tell() and not _ends_a_line(kept):
            line = "\n" + line
        file.write(line.encode())


def _ends_a_line(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
