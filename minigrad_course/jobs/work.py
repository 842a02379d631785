"""The steps of a job: grade each stage of a submission, then search it for signs.

It runs in a limited process (child.py), and yields each result as soon as it is known, because a
hostile text may end the process at any later step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

from ..content.stages import CourseError, Stage, find_stage
from ..grading.grade import Grade, grade
from ..grading.intake import noted
from ..grading.printable import printable
from ..grading.report import Report, as_grade
from ..grading.sandbox import Sandbox
from ..grading.seeds import seed_for
from ..grading.ungraded import NOT_GRADED, ungraded
from ..similarity.readable import readable
from ..similarity.signs import idle_holes, signs
from .ground import ground
from .job import Files, Job
from .record import Record, bounded

__all__ = ["NOT_READ", "TOO_DEEP", "TOO_LARGE", "grade_one", "merged", "steps"]

#: The reason begins with this if a text cannot be analysed, through its own fault.
NOT_READ = "this text could not be analysed"
TOO_DEEP = ("it is nested too deeply; write a long chain of `elif`, `+` or brackets as a table or "
            "a loop")
TOO_LARGE = "analysing it needs too much memory; hand in a shorter text"
#: The most signs to report for one stage.
SIGNS = 20

#: Grade a submission of a stage in a sandbox with a seed and limits.
Grader = Callable[..., Grade]


def steps(job: Job, sandbox: Sandbox, start: int = 0, grader: Grader = grade
          ) -> Iterator[dict[str, Any]]:
    """Do a job from its stage number `start` on; yield each result as a dict for JSON.

    `{"begins": [index, step]}` precedes the result of each step, which is `{"grade": ...}` or
    `{"look": ...}`.
    """
    for index, files in enumerate(job.files[start:], start):
        yield {"begins": [index, "grade"]}
        stage = find_stage(files.stage)
        result = _graded(job, files, stage, sandbox, grader)
        yield {"grade": asdict(result)}
        yield {"begins": [index, "look"]}
        yield {"look": [*_look(stage, files, result)] if result.points else []}


def _graded(job: Job, files: Files, stage: Stage, sandbox: Sandbox, grader: Grader) -> Grade:
    seed = 0
    try:
        if files.error:
            raise CourseError(files.error)
        if files.ground != ground(stage):
            raise CourseError(f"minigrad or its tests for stage {stage.number} differ between this "
                              "machine and the one that collected the submissions")
        submission = noted(stage, files.submission(job.name))
        seed = seed_for(job.secret, stage, submission)
        result = grader(stage, submission, sandbox, seed, job.limits)
    except RecursionError:
        return ungraded(job.name, stage, f"{NOT_READ}: {TOO_DEEP}", sandbox.method)
    except MemoryError:
        return ungraded(job.name, stage, f"{NOT_READ}: {TOO_LARGE}", sandbox.method)
    except Exception as error:
        told = printable(str(error))[:300] if isinstance(error, CourseError | OSError) else ""
        return ungraded(job.name, stage, f"{NOT_GRADED}: {told or type(error).__name__}",
                        sandbox.method, seed)
    (result,) = bounded(Report(job.name, (replace(result, submission=job.name),))).grades
    return result


def _look(stage: Stage, files: Files, result: Grade) -> Iterator[str]:
    """Yield findings about a submission that earned points, for the teacher to check."""
    try:
        texts = readable(stage, files.texts)
        idle = idle_holes(stage, texts)
        yield from (f"{hole.hole} earned points, but its body does nothing"
                    for hole in result.holes if hole.points and hole.hole in idle)
        found = signs(stage, texts)
        yield from (f"stage {stage.number} {each}" for each in found[:SIGNS])
        if len(found) > SIGNS:
            yield f"stage {stage.number} shows {len(found) - SIGNS} more signs"
    except (RecursionError, MemoryError):
        yield f"stage {stage.number} could not be searched for signs: {TOO_DEEP}"


def merged(job: Job, grades: list[Grade], look: list[str]) -> Record:
    """Return the record of a job, with the weights and the hints of its settings."""
    hints: dict[str, tuple[str, ...]] = {}
    for files in job.files:
        with contextlib.suppress(CourseError):
            stage = find_stage(files.stage)
            hints |= {hole.id: tuple(stage.words["hole"][hole.id]["hints"][: job.hints])
                      for hole in stage.holes}
    report = Report(job.name, tuple(grades)).weighted(job.weights).hinted(hints)
    return Record(job.key, report, tuple(look))


def grade_one(job: Job, sandbox: Sandbox, grader: Grader = grade) -> Record:
    """Do a whole job in this process, without a separate, limited process."""
    results = [*steps(job, sandbox, grader=grader)]
    return merged(job, [as_grade(each["grade"]) for each in results if "grade" in each],
                  [found for each in results for found in each.get("look", ())])
