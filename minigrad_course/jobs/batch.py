"""Grade a class: run a job for each submission, and resume where an interrupted run stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from ..content.stages import CourseError
from ..grading.asking import probe_jobs
from ..grading.intake import labels
from ..grading.printable import printable
from ..grading.process import Limits
from ..grading.sandbox import Sandbox
from ..grading.settings import Settings
from ..grading.ungraded import NOT_GRADED, could_not, ungraded
from . import limited
from .class_list import ClassList, Member, settings_key, write_list
from .executors import finished
from .history import Again, History, now
from .job import Job, check_existence, make_job
from .record import Record
from .work import merged

__all__ = ["grade_all"]


def grade_all(paths: Sequence[Path], settings: Settings, sandbox: Sandbox, secret: int,
              workers: int, kept: Path | None, told: Callable[[Record], None],
              limits: Limits = Limits(),  # noqa: B008  # it is frozen
              again: Again | None = None,
              went_on: Callable[[int], None] = lambda known: None,
              executor: Executor | None = None,
              shard: tuple[int, int] = (1, 1), require_sandbox: bool = False) -> list[Record]:
    """Grade submissions, `workers` at a time, or in an executor that is not closed afterwards.

    Returns the records of a shard of the class: `(3, 10)` is the third of ten, which has every
    tenth submission.

    Calls `went_on` once with the number of verdicts known from earlier, and `told` with each new
    record.  `kept` is the file of verdicts to resume from and append to, see history.py.
    Submissions that `again` wants are graded even if their verdict is known.  Identical texts are
    graded once.
    """
    for stage in settings.stages:
        probe_jobs(stage, secret)  # an error in the course raises before any grading
    check_existence(paths)
    names = labels(paths)
    history = None if kept is None else History(kept)
    known = {} if history is None else history.known()

    def job_of(index: int) -> Job:
        return make_job(paths[index], settings, secret, limits, sandbox.method,
                        require_sandbox)

    def append(index: int, record: Record, reason: str = "") -> None:
        if history is not None and not could_not(record.report):
            history.add(names[index], record, reason)

    keys = [job_of(index).key for index in range(len(paths))]
    if kept is not None:
        write_list(kept.parent, ClassList(
            settings_key(settings, secret, limits), tuple(each.key for each in settings.stages),
            tuple(Member(name, str(Path(*path.parts[-2:])), key)
                  for name, path, key in zip(names, paths, keys, strict=True)), now()))
    chosen = range(shard[0] - 1, len(paths), shard[1])
    done: dict[int, Record] = {}
    for index in chosen:
        path, name, key = paths[index], names[index], keys[index]
        entry = known.get((key, name)) or known.get((key, ""))
        if entry is None or (again is not None and again.wants(path) and (
                entry.who != name or entry.reason != again.reason)):
            continue
        done[index] = entry.record
        if entry.who != name:  # it was renamed, or another one has the same text
            done[index] = _named(entry.record, path)
            append(index, done[index])
    went_on(len(done))
    same: dict[str, list[int]] = {}  # submissions without a verdict, by their text's key
    for index in chosen:
        if index not in done:
            same.setdefault(keys[index], []).append(index)
    todo = ((first, job_of(first).as_json()) for first, *_ in same.values())
    for first, future in _in(executor, workers, todo):
        record = _result(future, job_of(first), settings)
        for index in same[keys[first]]:
            done[index] = record if index == first else _named(record, paths[index])
            append(index, done[index],
                   again.reason if again and again.wants(paths[index]) else "")
            told(done[index])
    return [done[index] for index in chosen]


def _in(executor: Executor | None, workers: int, todo: Iterator[tuple[int, str]]
        ) -> Iterator[tuple[int, Future[str]]]:
    """Run jobs in an executor, or in one made of this many threads."""
    if executor is not None:
        yield from finished(executor, limited.run_job, todo)
        return
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            yield from finished(pool, limited.run_job, todo)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _result(future: Future[str], job: Job, settings: Settings) -> Record:
    """Return the record of a job; an error becomes the reason for no points."""
    try:
        return Record.from_json(future.result())
    except Exception as error:
        told = printable(str(error))[:300] if isinstance(error, CourseError | OSError) else ""
        why = f"{NOT_GRADED}: {told or type(error).__name__}"
        return merged(job, [ungraded(job.name, stage, why, job.sandbox)
                            for stage in settings.stages], [])


def _named(record: Record, path: Path) -> Record:
    """Return a record with the name of another submission of the same text."""
    name = os.fsencode(path.name or str(path)).decode("utf-8", "backslashreplace")
    return replace(record, report=replace(record.report, submission=name, grades=tuple(
        replace(each, submission=name) for each in record.report.grades)))
