"""The process in which a job runs; limited.py starts it and reads its lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..grading.primed import prime
from . import budget
from .job import Job
from .obeying import run
from .work import steps

__all__ = ["main"]


def main() -> None:
    """Do the job that the input describes, and write each result as a line of JSON."""
    run(_steps)


def _steps(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    prime(given["primed"])
    return steps(Job.from_dict(given["job"]), budget.Metered(given["sandbox"]), given["start"])
