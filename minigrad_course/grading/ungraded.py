"""Submissions that could not be graded: the reason for no points, and which ones to try again."""

from __future__ import annotations

from ..content.stages import Stage
from .grade import Grade, HoleGrade
from .report import Report

__all__ = ["NOT_GRADED", "could_not", "ungraded"]

#: The reason begins with this if grading itself failed, so the answer alone is not at fault.
NOT_GRADED = "it could not be graded"


def ungraded(name: str, stage: Stage, reason: str, method: str, seed: int = 0) -> Grade:
    """Return a grade without points, with the same reason for each exercise."""
    return Grade(name, stage.key, tuple(
        HoleGrade(hole.id, stage.words["hole"][hole.id]["title"], 0, hole.points, reason)
        for hole in stage.holes), method, seed)


def could_not(report: Report) -> bool:
    """Return whether grading failed; such a verdict is not kept, so the next run tries again."""
    return any(hole.reason.startswith(NOT_GRADED) for hole in report.holes)
