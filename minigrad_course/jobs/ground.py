"""A hash of everything that decides a verdict besides the submission: tests, probes, the package.

NOTE [Stale records]
    A record is kept for as long as grading again would give the same verdict.  So its key covers
    the texts of the submission, and also the tests, the probes, the words of the stage, the code of
    minigrad and of the course, its version, and the settings.  It covers no path: a class that was
    moved to another folder or machine keeps its records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from minigrad import __version__

from ..content.folders import COURSE
from ..content.stages import Stage

__all__ = ["ground"]


def ground(stage: Stage) -> str:
    """Return a hash of everything that the verdicts on a stage depend on, without any path."""
    digest = hashlib.sha256(f"{__version__} {_code(stage.package)} {_code(COURSE)}".encode())
    for file in _files(stage):
        digest.update(f"{file.name} {_hash(file)}\n".encode())
    return digest.hexdigest()


def _files(stage: Stage) -> Iterator[Path]:
    """Yield the files of a stage that take part in grading it."""
    stages, lessons = stage.root / "lessons" / "stages", stage.root / "lessons"
    yield from (stage.tests, stage.tests.parents[1] / "_oracle.py", stage.probes,
                stage.probes.with_name("probing.py"), stage.symptoms, stages / f"{stage.key}.toml",
                lessons / f"{stage.key}.toml")


def _hash(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except FileNotFoundError:
        return "missing"


@cache
def _code(folder: Path) -> str:
    """Return a hash of all Python files in a package; it takes a twentieth of a second."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        inside = file.relative_to(folder)
        if inside.parts[0] != "data":  # an installed package has the course's files there
            digest.update(f"{inside.as_posix()} {_hash(file)}\n".encode())
    return digest.hexdigest()
