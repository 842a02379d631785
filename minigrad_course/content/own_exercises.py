"""Exercises outside the course: a folder with their settings, words, tests and mistakes.

NOTE [A course around a folder]
    Everything that tests or grades an answer finds a stage's files below the root of a course, and
    the answer to an exercise in the package.  So `added` makes a temporary course for the folder: a
    copy of the package in which the solution is the module `own/NAME.py`, and the folder's files
    under the names that they have in a course.  `stages` and `find_stage` look there too, in this
    process and in each process that it starts.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from .folders import PACKAGE
from .stages import OWN, CourseError, Stage, checkout, stages

__all__ = ["added"]

#: The files of the folder, and where a course has them; `{key}` is the stage's, "90_name".
FILES = {
    "stage.toml": "lessons/stages/{key}.toml",
    "words.toml": "lessons/{key}.toml",
    "start.py": "exercises/{key}.py",
    "solution.py": "solutions/{key}.py",
    "tests.py": "tests/stages/test_{key}.py",
    "symptoms.py": "lessons/stages/{key}.py",
    "probes.py": "lessons/probes/{key}.py",
}
#: Files of the course that tests and probes import.
_SHARED = ("tests/_oracle.py", "lessons/probes/probing.py")


@contextlib.contextmanager
def added(folder: Path | None) -> Iterator[list[Stage]]:
    """Add the exercises in a folder to the course while the block runs; yield their stage.

    Leaves the course unchanged for `None`.  Raises CourseError if a file is missing or does not fit
    the others.
    """
    if folder is None:
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="minigrad-own-") as made:
        root = Path(made)
        _write(folder, root)
        before = os.environ.get(OWN)
        os.environ[OWN] = made
        try:
            (stage,) = stages(root)
            _check(folder, stage)
            yield [stage]
        finally:
            if before is None:
                del os.environ[OWN]
            else:
                os.environ[OWN] = before


def _write(folder: Path, root: Path) -> None:
    """Write the course for a folder."""
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise CourseError(f"{folder} has no {missing[0]}; your own exercises need "
                          f"{', '.join(FILES)}")
    name = folder.resolve().name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise CourseError(f"{folder}: the folder's name becomes the name of a module, so it must "
                          f"consist of small letters, digits and _, not {name!r}")
    try:
        texts = {each: (folder / each).read_text(encoding="utf-8") for each in FILES}
        number = tomllib.loads(texts["stage.toml"]).get("number")
    except OSError as error:
        raise CourseError(f"{folder}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{folder}: {error}") from None
    taken = [stage.number for stage in stages(checkout())]
    if not isinstance(number, str) or not re.fullmatch(r"\d\d[a-z]?", number) or number in taken:
        raise CourseError(f"{folder / 'stage.toml'}: number must be two digits in quotes that no "
                          f"stage of the course has, such as \"90\", not {number!r}")
    texts["stage.toml"] = f'modules = ["own/{name}.py"]\n{texts["stage.toml"]}'
    for each, place in FILES.items():
        _put(root / place.format(key=f"{number}_{name}"), texts[each])
    for place in _SHARED:
        _put(root / place, (checkout() / place).read_text(encoding="utf-8"))
    shutil.copytree(PACKAGE, root / "minigrad", ignore=shutil.ignore_patterns("__pycache__"))
    _put(root / "minigrad" / "own" / "__init__.py", '"""Exercises outside the course."""\n')
    _put(root / "minigrad" / "own" / f"{name}.py", texts["solution.py"])


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _check(folder: Path, stage: Stage) -> None:
    """Raise CourseError if the folder's files do not fit each other."""
    (module,) = stage.modules
    if not stage.holes:
        raise CourseError(f"{folder / 'stage.toml'}: it needs a [[hole]] for each exercise")
    if not isinstance(stage.words.get("title"), str):
        raise CourseError(f"{folder / 'words.toml'}: it needs a title")
    there = {name: _symbols(folder / name) for name in ("start.py", "solution.py")}
    _symbols(folder / "tests.py")
    _symbols(folder / "symptoms.py")
    probes = [name.removeprefix("probe_") for name in _symbols(folder / "probes.py")
              if name.startswith("probe_")]
    for hole in stage.holes:
        words = stage.words.get("hole", {}).get(hole.id, {})
        if not hole.id.startswith(f"{stage.number}."):
            raise CourseError(f"{folder / 'stage.toml'}: the id of the exercise {hole.id!r} must "
                              f"begin with {stage.number}.")
        if missing := [name for name in ("title", "task", "hints") if name not in words]:
            raise CourseError(f"{folder / 'words.toml'}: [hole.\"{hole.id}\"] needs {missing[0]}")
        if not any(f"{each}_".startswith(f"{hole.id.replace('.', '_')}_") for each in probes):
            raise CourseError(f"{folder / 'probes.py'}: {hole.id} needs a function "
                              f"probe_{hole.id.replace('.', '_')}, because without a probe it "
                              "cannot earn points")
        for symbol in hole.symbols:
            path, _, name = symbol.partition(":")
            if path != module:
                raise CourseError(f"{folder / 'stage.toml'}: the symbol {symbol!r} of {hole.id} "
                                  f"must begin with {module}:")
            for file, names in there.items():
                if name not in names:
                    raise CourseError(f"{folder / file} does not define {name}, which is part of "
                                      f"{hole.id}")


def _symbols(file: Path) -> set[str]:
    """Return the functions, classes and methods that a file defines, "Class.method"."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise CourseError(f"{file}, line {error.lineno}: {error.msg}") from None
    found: set[str] = set()
    waiting: list[tuple[str, ast.stmt]] = [("", each) for each in tree.body]
    while waiting:
        before, node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(before + node.name)
        if isinstance(node, ast.ClassDef):
            waiting += [(f"{before}{node.name}.", each) for each in node.body]
    return found
