"""The package's other functions, because one of them can be submitted as an answer too.

`codegen/` has a second version of the engine's loop, and other folders do related things.  Every
function that no stage teaches is compared with each answer.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..content.source import module
from ..content.stages import stages
from .fingerprints import fingerprints
from .tokens import Token, functions

__all__ = ["Sibling", "siblings"]

#: Functions with fewer tokens are skipped, because they resemble each other anyway.
LEAST = 30
#: The lessons show these files, so an answer may legitimately resemble them.
_READ = ("tiny.py", "examples/")


class Sibling:
    """A function of the package that no stage teaches."""

    def __init__(self, path: str, name: str, tokens: list[Token]) -> None:
        self.path, self.name, self.tokens = path, name, tokens
        self.marks = fingerprints([each.text for each in tokens])

    def __str__(self) -> str:
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
