"""Give a graded process the package's version of an exercise only where the package needs it.

NOTE [Sealed]
    A stage that is tested beside the package needs the package's `op/` in the graded process, and
    so the package's version of the exercise.  The bundle doesn't contain it: there, the module has
    the exercise as it is shipped.  The process receives the compiled module on its standard input,
    imports the package with it, closes it (child_process/closing.py) and forgets the input, all
    before it loads any code of the learner's.  So the answer can't be read from a file or imported
    again, and its guard isn't a function that the learner could replace.

    A function that only declares ops has done its work by then, so closing removes its code.  A
    function that also runs with each op rejects everything except the package's own ops and nodes,
    as they were when it was closed.  A program that takes the code of such a function apart, or
    searches the process's memory, can still use it: Python has no protection against that.
"""

from __future__ import annotations

import ast
import base64
import marshal
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..child_process.closing import GUARD
from ..content.source import Module, blank, module, symbols_in
from ..content.stages import Hole, Stage

__all__ = ["shipped_instead", "with_sealed"]

#: Modules whose functions run with each op, besides the methods of nodes.
_RUNNING = ("op/apply.py",)


def shipped_instead(stage: Stage, hole: Hole) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each module with an exercise, as it is shipped."""
    for path in _paths(hole):
        yield path, blank(stage, path, [hole])


def with_sealed(stage: Stage, hole: Hole | None, job: Any) -> Any:
    """Return a job for a graded process, together with the sealed modules that it needs."""
    if not stage.beside or hole is None:
        return job
    return {"job": job, "hole": hole.id, "sealed": _sealed(stage, hole)}


@lru_cache(32)
def _sealed(stage: Stage, hole: Hole) -> dict[str, dict[str, Any]]:
    """Return the compiled modules of an exercise by name, plain and guarded, and its functions."""
    found = {}
    for path in _paths(hole):
        mine = symbols_in(hole, path)
        running = [each for each in mine if path in _RUNNING or "." in each]
        source = module(stage.package, path)
        found["minigrad." + path.removesuffix(".py").replace("/", ".")] = {
            "plain": _packed(source.tree, path),
            "guarded": _packed(_guarded(source, running), path),
            "running": running, "declaring": [each for each in mine if each not in running]}
    return found


def _paths(hole: Hole) -> list[str]:
    return list(dict.fromkeys(symbol.partition(":")[0] for symbol in hole.symbols))


def _guarded(source: Module, symbols: Sequence[str]) -> ast.Module:
    """Return a module's tree in which these functions begin with the guard."""
    copy = Module.from_text(source.path, source.text)
    for symbol in symbols:
        function = copy.function(symbol)
        first = function.args.args[0].arg
        function.body[:0] = ast.parse(GUARD.replace("FIRST", first)).body
    return ast.fix_missing_locations(copy.tree)


def _packed(tree: ast.Module, path: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # the guard calls constants
        code = compile(tree, Path(path).name, "exec", dont_inherit=True)
    return base64.b64encode(marshal.dumps(code)).decode()
