"""Run a job in a separate process; if that process dies, the record gives the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..content.stages import find_stage
from ..grading.grade import Grade
from ..grading.primed import primed
from ..grading.report import as_grade
from ..grading.sandbox import best_sandbox
from ..grading.ungraded import NOT_GRADED, ungraded
from .children import lines_from
from .job import Job
from .work import NOT_READ, merged

__all__ = ["lines_of", "run_job"]

#: Seconds that a process may take for a stage besides the time of its sandboxes.
PATIENCE = 900
#: The module that a child runs.
CHILD = "minigrad_course.jobs.child"


def run_job(text: str) -> str:
    """Do a job, given as JSON, and return its record as JSON.

    Any executor can call this function on any machine with the same minigrad.  It raises an error
    if that machine cannot grade, but never because of the submission's contents.
    """
    job = Job.from_json(text)
    method = job.sandbox or best_sandbox(job.require_sandbox).method
    grades: list[Grade] = []
    look: list[str] = []
    while (start := len(grades)) < len(job.files):
        begun, step, ending = start, "grade", ""
        for line in lines_of(job, method, start):
            if "ended" in line:
                ending = line["ended"]
            elif "begins" in line:
                begun, step = line["begins"]
            elif "grade" in line:
                grades.append(as_grade(line["grade"]))
            else:
                look += line.get("look", ())
        if len(grades) in (start, begun) and len(grades) < len(job.files):
            grades.append(_without_verdict(job, len(grades), ending, method))
        elif ending and step == "look":
            number = find_stage(job.files[begun].stage).number
            look.append(f"stage {number} could not be searched for signs: "
                        f"{ending.removeprefix(f'{NOT_READ}: ')}")
    return merged(job, grades, look).as_json()


def _without_verdict(job: Job, index: int, ending: str, method: str) -> Grade:
    """Return the grade for the stage at which a child ended."""
    stage = find_stage(job.files[index].stage)
    if ending.startswith(NOT_READ):
        return ungraded(job.name, stage, ending, method)
    return ungraded(job.name, stage, f"{NOT_GRADED}: {ending or 'its process ended too early'}",
                    method)


def lines_of(job: Job, method: str, start: int) -> Iterator[dict[str, Any]]:
    """Yield the results of a job from its stage number `start` on; see `lines_from`."""
    stages = [find_stage(each.stage) for each in job.files]
    given = {"job": asdict(job), "start": start, "sandbox": method,
             "primed": primed(stages, method)}
    seconds = (job.limits.total or 4 * job.limits.seconds) + PATIENCE
    yield from lines_from(CHILD, given, seconds * len(stages))
