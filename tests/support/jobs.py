"""Jobs without their own process: to give a verdict by hand, or to grade quickly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minigrad_course.grading.grade import Grade, HoleGrade, grade
from minigrad_course.grading.process import Limits
from minigrad_course.grading.report import Report
from minigrad_course.grading.sandbox import Sandbox
from minigrad_course.grading.settings import Settings
from minigrad_course.jobs import limited
from minigrad_course.jobs.job import Job, make_job
from minigrad_course.jobs.work import Grader, grade_one

__all__ = ["done", "graded_by", "grading", "right_if_it_says_so"]


def graded_by(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a function grade every job, in the process of the class."""
    monkeypatch.setattr(limited, "run_job", lambda text: grade_one(
        Job.from_json(text), Sandbox("limits"), grader).as_json())


def right_if_it_says_so(stage: Any, submission: Any, *_: Any) -> Grade:
    """Give all points to a submission whose text contains "right", and no points to others."""
    right = "right" in "".join(submission.texts.values())
    return Grade(submission.name, stage.key, tuple(HoleGrade(
        hole.id, "t", hole.points * right, hole.points, "" if right else "wrong")
        for hole in stage.holes))


def grading(path: Path, settings: Settings, sandbox: Sandbox, secret: int,
            limits: Limits) -> Report:
    """Grade a submission in this process."""
    return grade_one(make_job(path, settings, secret, limits), sandbox, grade).report


def done(path: Path, settings: Settings, sandbox: str, secret: int, limits: Limits) -> str:
    """Run the job of a submission as a class does, in a process of its own; return its record."""
    return limited.run_job(make_job(path, settings, secret, limits, sandbox).as_json())
