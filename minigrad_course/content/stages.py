"""Read the course from its files: stages, their exercises, and the mistakes that are known.

A stage `NN_name` is five files and a test file, so that words can be translated by themselves:

    lessons/NN_name.md              the lesson
    lessons/NN_name.toml            its other words: titles, tasks, hints, sentences
    lessons/stages/NN_name.toml     what does not change with the language: modules, holes, mutants;
                                    `beside = true`: see NOTE [A second copy of op/]
    lessons/pictures/NN_name.py     what draws the lesson's pictures, a function each
    lessons/stages/NN_name.py       symptoms: small programs that tell mistakes by what they do
    tests/stages/test_NN_name.py    its tests, each marked with the hole that it is for
"""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from .folders import COURSE, PACKAGE, ROOT

__all__ = ["MASTER", "CourseError", "Hole", "Mutant", "Stage", "checkout", "find_stage", "stages"]

#: The beginning of a line that stands in master copies alone.
MASTER = "# MASTER COPY"


class CourseError(Exception):
    """Something in the course's own files is not as it should be; the text says what and where."""


@dataclass(frozen=True)
class Mutant:
    """A plausible wrong answer: the solution with some of its text replaced."""

    name: str
    symptom: str | None  # which symptom is to be told; None where behaviour does not tell
    edits: tuple[tuple[str, str], ...]
    seen: bool = False  # by the capstone's ten probes; see NOTE [Planting] in capstone/faults.py


@dataclass(frozen=True)
class Hole:
    """One or several bodies that the learner writes, graded together."""

    id: str
    symbols: tuple[str, ...]  # "path/in/package.py:Class.method"
    points: int
    mutants: tuple[Mutant, ...]
    needs: tuple[str, ...] = ()  # later holes without which this one's tests cannot pass
    #: Whether the task leaves one way to write it, so that likeness to the package says nothing.
    forced: bool = False


@dataclass(frozen=True)
class Stage:
    """One lesson with its exercise."""

    key: str  # "03_engine"
    root: Path  # the checkout
    minutes: int
    modules: tuple[str, ...]  # paths in the package
    holes: tuple[Hole, ...]
    #: Whether it is tested on a second copy of `op/`: see NOTE [A second copy of op/].
    beside: bool = False

    @property
    def number(self) -> str:
        """Its number as text: "03", "03a"."""
        return self.key.partition("_")[0]

    @property
    def package(self) -> Path:
        """The package's folder, whose modules the stage rebuilds."""
        beside = self.root / "minigrad"
        return beside if beside.is_dir() else PACKAGE

    @cached_property
    def words(self) -> dict[str, Any]:
        """Its words: `title`, `hole` by id (title, task, hints), `symptoms` and `tests`."""
        return _read(self.root / "lessons" / f"{self.key}.toml")

    @property
    def lesson(self) -> Path:
        """The lesson's text."""
        return self.root / "lessons" / f"{self.key}.md"

    def text(self) -> str:
        """Return the lesson's text; CourseError where there is none."""
        try:
            return self.lesson.read_text(encoding="utf-8")
        except OSError as error:
            raise CourseError(f"{self.lesson}: {error.strerror}") from None

    @property
    def pictures(self) -> Path:
        """The functions that draw the lesson's pictures; the pictures lie beside it."""
        return self.root / "lessons" / "pictures" / f"{self.key}.py"

    @property
    def symptoms(self) -> Path:
        """The programs that tell mistakes by what they do."""
        return self.root / "lessons" / "stages" / f"{self.key}.py"

    @property
    def probes(self) -> Path:
        """The seeded programs whose results decide a graded run."""
        return self.root / "lessons" / "probes" / f"{self.key}.py"

    def probe_names(self) -> list[str]:
        """Return the names of the probes, in the order of the file; [] where there is no file."""
        try:
            tree = ast.parse(self.probes.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        return [each.name for each in tree.body
                if isinstance(each, ast.FunctionDef) and each.name.startswith("probe_")]

    @property
    def tests(self) -> Path:
        """The tests, each marked with its hole."""
        return self.root / "tests" / "stages" / f"test_{self.key}.py"

    def symptoms_of(self, hole: Hole) -> list[str]:
        """Return the symptoms that a hole's mistakes show, in the order in which they are told.

        They are those with a sentence whose name begins with the hole's: `03_1_counts_nodes`.
        """
        mark = hole.id.replace(".", "_") + "_"
        return [name for name in self.words.get("symptoms", {}) if name.startswith(mark)]

    def wanted(self, test: str) -> str | None:
        """Return what a test, named by its id, asks for; `{case}` in its sentence is its case."""
        name, _, case = test.rpartition("::")[2].partition("[")
        sentence: str | None = self.words.get("tests", {}).get(name)
        return sentence and sentence.replace("{case}", case.removesuffix("]"))

    def exercise(self, module: str, folder: Path | None = None) -> Path:
        """The learner's file for a module, in `folder` (default: `exercises/`)."""
        base = self.root / "exercises" if folder is None else folder
        if len(self.modules) == 1:
            return base / f"{self.key}.py"
        return base / self.key / module

    def handed_out(self, module: str) -> str:
        """Return the text that a learner gets of the exercise for a module.

        It is that of the master copy without the lines that say so.
        """
        lines = self.exercise(module).read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith(MASTER))

    def solution(self, module: str) -> Path:
        """The solution's file for a module."""
        return self.exercise(module, self.root / "solutions")


def checkout() -> Path:
    """Return the folder that holds `lessons/`: the project's, or what an installed package brings.

    CourseError where neither is there.
    """
    for root in (ROOT, COURSE / "data"):
        if (root / "lessons" / "programs").is_dir():
            return root
    raise CourseError(f"the course's lessons are neither at {ROOT / 'lessons'} nor at "
                      f"{COURSE / 'data'}: install the package again")


def stages(root: Path | None = None) -> list[Stage]:
    """Return all stages in order.

    >>> [stage.number for stage in stages()][:2]
    ['00', '01']
    """
    root = root or checkout()
    return [_stage(path, root) for path in _files(root)]


def find_stage(number: str, root: Path | None = None) -> Stage:
    """Return the stage called `number` ("3", "03", "03_engine"); CourseError lists those there are.

    >>> find_stage("1").key
    '01_function'
    """
    root = root or checkout()
    numbers = []
    for path in _files(root):
        found = path.stem.partition("_")[0]
        if number in (path.stem, found, found.lstrip("0")):
            return _stage(path, root)
        numbers.append(found)
    raise CourseError(f"there is no stage {number!r}; there are {', '.join(numbers)}")


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
    """Return what a file says; kept, as parsing all of them takes a sixth of a second."""
    return tomllib.loads(text)


def _stage(path: Path, root: Path) -> Stage:
    read = _read(path)
    try:
        holes = tuple(_hole(each) for each in read.get("hole", ()))
        stage = Stage(path.stem, root, read["minutes"], tuple(read.get("modules", ())), holes,
                      read.get("beside", False))
    except KeyError as error:
        raise CourseError(f"{path}: {error} is missing") from None
    outside = [each for each in stage.modules if not each.startswith(("op/", "examples/"))]
    if stage.beside and outside:
        raise CourseError(f"{path}: with beside = true all modules are in op/ or examples/, but "
                          f"{outside[0]} is not")
    return stage


def _hole(read: dict[str, Any]) -> Hole:
    mutants = tuple(
        Mutant(each["name"], each.get("symptom"),
               tuple((before, after) for before, after in each["edits"]), each.get("seen", False))
        for each in read.get("mutant", ()))
    return Hole(read["id"], tuple(read["symbols"]), read["points"], mutants,
                tuple(read.get("needs", ())), read.get("forced", False))
