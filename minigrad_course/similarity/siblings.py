"""The package's other functions, because one of them can be submitted as an answer too.

`codegen/` has a second version of the engine's loop, and other folders do related things.  Every
function that no stage teaches is compared with each answer.  So are the references in a stage's
tests, such as a convolution with loops: a graded process that decides doesn't have them, but their
text is public.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from ..content.source import module
from ..content.stages import Stage, stages
from .fingerprints import fingerprints
from .tokens import Token, functions

__all__ = ["Sibling", "references", "siblings"]

#: Functions with fewer tokens are skipped, because they resemble each other anyway.
LEAST = 30
#: The lessons show these files, so an answer may legitimately resemble them.
_READ = ("tiny.py", "examples/")


class Sibling:
    """A function of the package that no stage teaches, or of a stage's tests."""

    def __init__(self, path: str, name: str, tokens: list[Token]) -> None:
        self.path, self.name, self.tokens = path, name, tokens
        self.marks = fingerprints([each.text for each in tokens])

    def __str__(self) -> str:
        if self.path.startswith(".."):
            return f"the tests' {Path(self.path).name}:{self.name}"
        return f"the package's {self.path}:{self.name}"


@cache
def siblings(package: Path) -> tuple[Sibling, ...]:
    """Return all functions of the package that no stage teaches."""
    taught = {path for stage in stages() for path in stage.modules}
    found = []
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package).as_posix()
        if path not in taught and not path.startswith(_READ):
            found += [Sibling(path, name, tokens)
                      for name, tokens in functions(path, module(package, path).text)
                      if len(tokens) >= LEAST]
    return tuple(found)


def references(stage: Stage) -> list[Sibling]:
    """Return the functions with which a stage's tests compare."""
    found = []
    for file in (stage.tests, stage.tests.parents[1] / "_oracle.py"):
        path = Path(os.path.relpath(file, stage.package)).as_posix()
        found += [Sibling(path, name, tokens)
                  for name, tokens in functions(path, file.read_text(encoding="utf-8"))
                  if len(tokens) >= LEAST and not name.rpartition(".")[2].startswith("test_")]
    return found
