"""Read the course from its files: stages, their exercises, and the known mistakes.

A stage `NN_name` has six files, so that its words can be translated separately:

    lessons/NN_name.md              the lesson
    lessons/NN_name.toml            all other words: titles, tasks, hints, sentences
    lessons/stages/NN_name.toml     what does not depend on the language: modules, holes, mutants;
                                    `beside = true`: see NOTE [A second copy of op/]
    lessons/pictures/NN_name.py     functions that draw the lesson's pictures
    lessons/stages/NN_name.py       symptoms: small programs that identify mistakes by their effect
    tests/stages/test_NN_name.py    its tests, each marked with its exercise
"""

from __future__ import annotations

import ast
import os
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from .folders import COURSE, PACKAGE, ROOT

__all__ = ["MASTER", "OWN", "CourseError", "Hole", "Mutant", "Stage", "checkout", "find_stage",
           "stages"]

#: The beginning of a line that occurs only in master copies.
MASTER = "# MASTER COPY"
#: The environment variable with the root of the exercises outside the course, for this process and
#: the processes that it starts; see own_exercises.py.
OWN = "MINIGRAD_EXERCISES"


class CourseError(Exception):
    """An error in the course's files or in how they are used; the text says what and where."""


@dataclass(frozen=True)
class Mutant:
    """A plausible wrong answer: the solution with some of its text replaced."""

    name: str
    symptom: str | None  # the symptom to report, or `None` if behaviour does not identify it
    edits: tuple[tuple[str, str], ...]
    seen: bool = False  # by the capstone's ten probes; see NOTE [Planting] in capstone/faults.py


@dataclass(frozen=True)
class Hole:
    """An exercise: one or more bodies that the learner writes, graded together."""

    id: str
    symbols: tuple[str, ...]  # "path/in/package.py:Class.method"
    points: int
    mutants: tuple[Mutant, ...]
    needs: tuple[str, ...] = ()  # later exercises without which its tests cannot pass
    #: Whether the task leaves only one way to write it, so that similarity is no proof of copying.
    forced: bool = False


@dataclass(frozen=True)
class Stage:
    """One lesson with its exercises."""

    key: str  # "03_engine"
    root: Path  # the checkout
    minutes: int
    modules: tuple[str, ...]  # paths in the package
    holes: tuple[Hole, ...]
    #: Whether it is tested on a second copy of `op/`: see NOTE [A second copy of op/].
    beside: bool = False

    @property
    def number(self) -> str:
        """The stage's number as text: "03", "03a"."""
        return self.key.partition("_")[0]

    @property
    def package(self) -> Path:
        """The folder of the package whose modules the stage rebuilds."""
        beside = self.root / "minigrad"
        return beside if beside.is_dir() else PACKAGE

    @cached_property
    def words(self) -> dict[str, Any]:
        """The stage's words: `title`, `hole` by id (title, task, hints), `symptoms`, `tests`."""
        return _read(self.root / "lessons" / f"{self.key}.toml")

    @property
    def is_own(self) -> bool:
        """Whether it is outside the course, in a folder of a teacher; it has no lesson."""
        return str(self.root) == os.environ.get(OWN)

    @property
    def lesson(self) -> Path:
        """The path of the lesson's text."""
        return self.root / "lessons" / f"{self.key}.md"

    def text(self) -> str:
        """Return the lesson's text; raise CourseError if it cannot be read."""
        try:
            return self.lesson.read_text(encoding="utf-8")
        except OSError as error:
            raise CourseError(f"{self.lesson}: {error.strerror}") from None

    @property
    def pictures(self) -> Path:
        """The module that draws the lesson's pictures, next to the pictures."""
        return self.root / "lessons" / "pictures" / f"{self.key}.py"

    @property
    def symptoms(self) -> Path:
        """The module of programs that identify mistakes by their effect."""
        return self.root / "lessons" / "stages" / f"{self.key}.py"

    @property
    def probes(self) -> Path:
        """The module of seeded programs whose results decide the grade."""
        return self.root / "lessons" / "probes" / f"{self.key}.py"

    def probe_names(self) -> list[str]:
        """Return the names of the probes in the order of the file; [] if there is no file."""
        try:
            tree = ast.parse(self.probes.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        return [each.name for each in tree.body
                if isinstance(each, ast.FunctionDef) and each.name.startswith("probe_")]

    @property
    def tests(self) -> Path:
        """The test file; each test is marked with its exercise."""
        return self.root / "tests" / "stages" / f"test_{self.key}.py"

    def symptoms_of(self, hole: Hole) -> list[str]:
        """Return the symptoms of an exercise's mistakes, in the order in which they are reported.

        They are those with a sentence and the exercise's prefix: `03_1_counts_nodes`.
        """
        mark = hole.id.replace(".", "_") + "_"
        return [name for name in self.words.get("symptoms", {}) if name.startswith(mark)]

    def wanted(self, test: str) -> str | None:
        """Return what a test, given by its id, expects; `{case}` in the sentence is its case."""
        name, _, case = test.rpartition("::")[2].partition("[")
        sentence: str | None = self.words.get("tests", {}).get(name)
        return sentence and sentence.replace("{case}", case.removesuffix("]"))

    def exercise(self, module: str, folder: Path | None = None) -> Path:
        """Return the learner's file for a module, in `folder` (default: `exercises/`)."""
        base = self.root / "exercises" if folder is None else folder
        if len(self.modules) == 1:
            return base / f"{self.key}.py"
        return base / self.key / module

    def handed_out(self, module: str) -> str:
        """Return the text of the exercise for a module, as a learner gets it.

        It is the master copy without the lines that mark it as one.
        """
        lines = self.exercise(module).read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith(MASTER))

    def solution(self, module: str) -> Path:
        """Return the file with the solution for a module."""
        return self.exercise(module, self.root / "solutions")


def checkout() -> Path:
    """Return the folder that contains `lessons/`: the project's, or an installed package's data.

    Raises CourseError if neither exists.
    """
    for root in (ROOT, COURSE / "data"):
        if (root / "lessons" / "programs").is_dir():
            return root
    raise CourseError(f"the course's lessons are missing from both {ROOT / 'lessons'} and "
                      f"{COURSE / 'data'}: reinstall the package")


def stages(root: Path | None = None) -> list[Stage]:
    """Return all stages in order.

    >>> [stage.number for stage in stages()][:2]
    ['00', '01']
    """
    return [_stage(path, each) for each in _roots(root) for path in _files(each)]


def find_stage(number: str, root: Path | None = None) -> Stage:
    """Return the stage called `number` ("3", "03", "03_engine"), or raise CourseError.

    >>> find_stage("1").key
    '01_function'
    """
    numbers = []
    for each in _roots(root):
        for path in _files(each):
            found = path.stem.partition("_")[0]
            if number in (path.stem, found, found.lstrip("0")):
                return _stage(path, each)
            numbers.append(found)
    raise CourseError(f"there is no stage {number!r}; the stages are {', '.join(numbers)}")


def _roots(root: Path | None) -> list[Path]:
    """Return the given root, or the course's and the root of exercises outside it, if any."""
    if root is not None:
        return [root]
    return [checkout(), *(Path(each) for each in (os.environ.get(OWN),) if each)]


def _files(root: Path) -> list[Path]:
    return sorted((root / "lessons" / "stages").glob("*.toml"))


def _read(path: Path) -> dict[str, Any]:
    try:
        return _parsed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: {error}") from None


@lru_cache(128)
def _parsed(text: str) -> dict[str, Any]:
    """Parse a file's text; cached, because parsing all files takes a sixth of a second."""
    return tomllib.loads(text)


def _stage(path: Path, root: Path) -> Stage:
    read = _read(path)
    try:
        holes = _holes(path.read_text(encoding="utf-8"))
        stage = Stage(path.stem, root, read["minutes"], tuple(read.get("modules", ())), holes,
                      read.get("beside", False))
    except KeyError as error:
        raise CourseError(f"{path}: {error} is missing") from None
    outside = [each for each in stage.modules if not each.startswith(("op/", "examples/"))]
    if stage.beside and outside:
        raise CourseError(f"{path}: with beside = true all modules must be in op/ or examples/, "
                          f"but {outside[0]} is not")
    return stage


@lru_cache(128)
def _holes(text: str) -> tuple[Hole, ...]:
    return tuple(_hole(each) for each in _parsed(text).get("hole", ()))


def _hole(read: dict[str, Any]) -> Hole:
    mutants = tuple(
        Mutant(each["name"], each.get("symptom"),
               tuple((before, after) for before, after in each["edits"]), each.get("seen", False))
        for each in read.get("mutant", ()))
    return Hole(read["id"], tuple(read["symbols"]), read["points"], mutants,
                tuple(read.get("needs", ())), read.get("forced", False))
