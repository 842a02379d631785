"""Test an assignment in a new folder without a network, as a platform would use it.

It grades three submissions.  The exercise as shipped must get no points, and the solution must
get all of them.  A known mistake must lose only its own exercise's points, and the feedback must
contain the sentence that names it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..content.source import mutated
from ..content.stages import CourseError, Hole, Mutant, Stage
from .assignment import Assignment

__all__ = ["FreshFolder", "Graded", "findings", "known_mistake"]


@dataclass(frozen=True)
class Graded:
    """The score and the text that a platform would show."""

    score: float
    max_score: float
    told: str
    result: Any = field(default=None, compare=False)  # in the platform's own format


@dataclass(frozen=True)
class FreshFolder:
    """A new, empty folder, and a Python with everything that grading needs."""

    folder: Path
    python: str = sys.executable

    def run(self, command: list[str], environment: dict[str, str], cwd: Path | None = None,
            given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program, without a network if possible; raise CourseError if it fails."""
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith(("PYTHON", "PIP_", "MINIGRAD"))}
        done = subprocess.run([*offline(), *command], cwd=cwd or self.folder, check=False,
                              env={**clean, "PIP_NO_INDEX": "1", "HOME": str(self.folder),
                                   "MINIGRAD_ANY_SANDBOX": "1", **environment},
                              capture_output=True, text=True, errors="replace", timeout=1800,
                              input=given)
        if done.returncode:
            raise CourseError(f"{' '.join(command[:3])} exited with status {done.returncode}:\n"
                              f"{done.stdout[-1500:]}{done.stderr[-3000:]}")
        return done

    def unpack(self, out: Path) -> Path:
        """Return a new folder with the wheel's files."""
        (wheel,) = out.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.folder / "package")
        return self.folder / "package"

    def run_cells(self, code: list[str], package: Path) -> list[tuple[str, str]]:
        """Run cells of code in one process; return what each printed, and its value as text.

        Raises CourseError if a cell raises.
        """
        done = self.run([self.python, "-P", "-m", "minigrad_course.child_process.code_blocks"],
                        {"PYTHONPATH": str(package)}, given=json.dumps(code))
        results = json.loads(done.stdout)
        for result in results:
            if result["error"]:
                raise CourseError(f"a cell raised {result['traceback'] or result['error']}")
        return [(result["printed"], result["value"]) for result in results]


@cache
def offline() -> tuple[str, ...]:
    """Return the prefix that runs a command without a network, or () if that is impossible."""
    words = ("bwrap", "--dev-bind", "/", "/", "--unshare-net", "--")
    if shutil.which(words[0]) and not subprocess.run(
            [*words, "true"], capture_output=True, check=False).returncode:
        return words
    return ()


def known_mistake(stages: Sequence[Stage]) -> tuple[Stage, Hole, Mutant]:
    """Return a mistake that a symptom identifies, in the last exercise that has one.

    Raises CourseError if the stages have no such mistake.
    """
    for stage in reversed(stages):
        for hole in reversed(stage.holes):
            for mutant in hole.mutants:
                if mutant.symptom is not None:
                    return stage, hole, mutant
    raise CourseError(f"{', '.join(each.key for each in stages)}: no known mistake has a symptom, "
                      "so --verify cannot test one")


def findings(assignment: Assignment, grade: Callable[[dict[str, str], FreshFolder], Graded],
             told: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    """Yield a sentence for each unexpected verdict; `told` is called with every verdict."""
    stage, hole, mutant = known_mistake(assignment.stages)
    wrong = assignment.solutions() | {
        assignment.inside(stage, path): text for path, text in mutated(stage, hole, mutant).items()}
    most, others = assignment.max_points, assignment.max_points - assignment.points(hole.id)
    for name, files, least, top, sentence in (
            ("the exercise as shipped", assignment.exercises(), 0, 0, ""),
            ("the solution", assignment.solutions(), most, most, ""),
            (f"the mistake {mutant.name!r} in {hole.id}", wrong, 0, others,
             stage.words["symptoms"][mutant.symptom])):
        with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
            Path(folder).chmod(0o755)
            graded = grade(files, FreshFolder(Path(folder)))
        told(f"{name}: {graded.score:g} of {graded.max_score:g}")
        if graded.max_score != most:
            yield f"{name}: the maximum is {graded.max_score:g} points, not {most}"
        if not least <= graded.score <= top:
            yield f"{name}: it got {graded.score:g} of {most} points"
        if sentence and not 0 < graded.score < most:
            yield f"{name}: it got {graded.score:g} of {most} points, but should get some, not all"
        if sentence and " ".join(sentence.split()) not in " ".join(graded.told.split()):
            yield f"{name}: the feedback lacks the sentence: {sentence}"
