"""Check that the core of the package is taught, and that files the lessons leave out are listed.

A function is *taught* if it is an exercise, or if a lesson shows its code or its class (`pull`,
`show`).  A file of the core that no stage rebuilds and no lesson shows needs a line in
`lessons/core.toml` with its purpose.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from ..content.lesson_blocks import parse
from ..content.stages import CourseError, stages

__all__ = ["CORE", "file_faults", "is_taught", "left_out", "section", "taught_symbols"]

#: The folders of the core.
CORE = ("graph", "tensor", "op", "engine")

_FILE = "core.toml"


def taught_symbols(root: Path) -> set[str]:
    """Return the symbols in exercises and lessons, as "path/in/package.py:Class.method"."""
    found: set[str] = set()
    for stage in stages(root):
        found.update(symbol for hole in stage.holes for symbol in hole.symbols)
        found.update(block.detail for block in parse(stage.text(), stage.key)
                     if block.kind in ("pull", "show"))
    return found


def is_taught(path: str, qualified: str, taught: set[str]) -> bool:
    """Return whether a function, given by its `co_qualname`, or an enclosing scope is taught.

    >>> is_taught("graph/node.py", "through_tensors.<locals>.<listcomp>",
    ...           {"graph/node.py:through_tensors"})
    True
    """
    names = qualified.replace(".<locals>", "").split(".")
    return any(f"{path}:{'.'.join(names[:end])}" in taught for end in range(1, len(names) + 1))


def left_out(root: Path) -> dict[str, str]:
    """Return the files of the core that the lessons leave out, and what each is for."""
    path = root / "lessons" / _FILE
    try:
        files: dict[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))["files"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise CourseError(f"{path}: {error}") from None
    return files


def file_faults(root: Path) -> list[str]:
    """Return the files of the core that should be listed but are not, or that should not be."""
    package = root / "minigrad"
    there = {path.relative_to(package).as_posix() for part in CORE
             for path in (package / part).glob("*.py") if path.name != "__init__.py"}
    taught = {symbol.partition(":")[0] for symbol in taught_symbols(root)}
    taught |= {path for stage in stages(root) for path in stage.modules}
    named = set(left_out(root))
    return [*(f"{path}: no lesson shows it, and lessons/{_FILE} does not say what it is for"
              for path in sorted(there - taught - named)),
            *(f"{path}: listed in lessons/{_FILE}, although a lesson shows it"
              for path in sorted(named & taught)),
            *(f"{path}: listed in lessons/{_FILE}, but the file does not exist"
              for path in sorted(named - there))]


def section(root: Path) -> str:
    """Return the table for the course's page: each left-out file and what it is for."""
    rows = [f"| `{path}` | {words} |" for path, words in sorted(left_out(root).items())]
    return "\n".join(["| file | what it is for |", "|---|---|", *rows]) + "\n"
