"""A job: one submission, with everything that grading it takes, as text that any machine can read.

NOTE [Jobs]
    The process that grades a class only reads bytes, makes jobs of them, and merges their records.
    It never parses a student's text.  A job runs in a separate process with limits (see
    limited.py), on this machine or on another one, and the result is one record (record.py).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..content.stages import CourseError, Stage
from ..grading.intake import Submission, collect
from ..grading.printable import printable
from ..grading.process import Limits
from ..grading.settings import Settings
from .ground import ground

__all__ = ["Files", "Job", "check_existence", "files_of", "make_job"]


@dataclass(frozen=True)
class Files:
    """The files that were handed in for one stage."""

    stage: str  # the stage's key, such as "07_grad_mode"
    texts: dict[str, str]  # by path in the package
    problems: dict[str, str]  # by path in the package
    error: str = ""  # why they could not be read at all
    ground: str = ""  # what the verdict depends on besides the submission, see ground.py

    def submission(self, name: str) -> Submission:
        """Return the files as a submission."""
        return Submission(name, dict(self.texts), dict(self.problems))


@dataclass(frozen=True)
class Job:
    """One submission and the settings for grading it."""

    name: str  # shown with the verdict; not part of the key
    files: tuple[Files, ...]
    secret: int  # seeds the probes
    weights: dict[str, int] = field(default_factory=dict)
    hints: int = 0
    limits: Limits = field(default_factory=Limits)
    sandbox: str = ""  # the method; "": the best one on the machine where the job runs
    require_sandbox: bool = False

    @cached_property
    def key(self) -> str:
        """A hash of everything that the record depends on; see NOTE [Stale records]."""
        about = [[[each.stage, sorted(each.texts.items()), sorted(each.problems.items()),
                   each.error, each.ground] for each in self.files],
                 self.secret, sorted(self.weights.items()), self.hints, asdict(self.limits)]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def as_json(self) -> str:
        """Return the job as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Job:
        """Rebuild a job from `as_json`."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> Job:
        """Rebuild a job from its fields."""
        files = tuple(Files(**each) for each in read["files"])
        return cls(**(read | {"files": files, "limits": Limits(**read["limits"])}))


def make_job(path: Path, settings: Settings, secret: int, limits: Limits, sandbox: str = "",
             require_sandbox: bool = False) -> Job:
    """Read a submission and return its job.  If it cannot be read, the job says why."""
    name = os.fsencode(path.name or str(path)).decode("utf-8", "backslashreplace")
    return Job(name, tuple(files_of(path, stage) for stage in settings.stages), secret,
               dict(settings.weights), settings.hints, limits, sandbox, require_sandbox)


def check_existence(paths: Iterable[Path]) -> None:
    """Raise CourseError if a submission does not exist; other errors concern it alone."""
    for path in paths:
        try:
            os.lstat(path)
        except FileNotFoundError as error:
            raise CourseError(f"cannot read {path}: {error.strerror}") from None
        except OSError:
            pass  # it exists; reading it will report the error


def files_of(path: Path, stage: Stage) -> Files:
    """Read the files for one stage; if that fails, say why instead."""
    try:
        found = collect(path, stage)
    except Exception as error:  # it concerns this submission alone
        text = printable(str(error))[:300] if isinstance(error, CourseError | OSError) else ""
        return Files(stage.key, {}, {}, text or type(error).__name__, ground(stage))
    return Files(stage.key, found.texts, found.problems, "", ground(stage))
