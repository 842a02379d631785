"""Relatives of exercises: functions that a graded process can call and that do the work.

NOTE [Relatives]
    An answer may hand its work on to any function that it can import.  The bundle contains neither
    the exercise nor `codegen`, but another function of the package, of NumPy or of Python may
    compute the same.  So each function of an exercise is delegated, with its own arguments, to each
    function that a graded process can import (relatives_child.py), and the probes decide.  If
    this works for each of its functions that the probes call, the exercise is answered.  Bodies
    that do no work, such as `return None`, are tried in the same way.
"""

from __future__ import annotations

import ast
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..content.source import Function, Module, module
from ..content.stages import CourseError, Hole, Stage
from ..grading import answers
from ..grading.asking import probes_of, reference, why
from ..grading.bundle import make_bundle, remove_tests
from ..grading.sandbox import Limits, best_sandbox
from ..grading.sealed import with_sealed
from . import relatives_child
from .canary import SEED, begun_with

__all__ = ["Relatives", "findings", "importable", "relatives"]

#: For one stage: some ten thousand functions for each function of an exercise.
LIMITS = Limits(seconds=3600, output_bytes=16 << 20)


@dataclass(frozen=True)
class Relatives:
    """The relatives of one function of an exercise."""

    hole: str
    symbol: str
    kept: int  # functions that behave like it in its first call
    found: tuple[str, ...]  # functions that answer all probes


def relatives(stage: Stage, modules: Sequence[str] = ()) -> list[Relatives]:
    """Return the functions that answer the probes, for each function of a stage's exercises.

    `modules` limits the search to some modules.  A stage that is tested beside the package has a
    bundle for each exercise.  Raises CourseError if a search did not end.
    """
    found = []
    for holes in [[each] for each in stage.holes] if stage.beside else [[*stage.holes]]:
        jobs = probes_of(stage, holes, SEED)
        known = reference(stage, SEED)
        for line in _lines(stage, holes, {"jobs": jobs, "expected": [known[job] for job in jobs],
                                          "modules": [*modules]}):
            if "symbol" in line:
                (hole,) = (each.id for each in holes if line["symbol"] in each.symbols)
                found.append(Relatives(hole, line["symbol"], line["kept"], tuple(line["found"])))
    return found


def importable(stage: Stage) -> list[str]:
    """Return the top-level modules that the process of the probes can import."""
    (line,) = _lines(stage, [stage.holes[0]], {"jobs": [], "expected": [], "modules": []})
    return list(line["importable"])


def findings(found: Sequence[Relatives]) -> Iterator[str]:
    """Yield a sentence for each exercise that other functions answer."""
    for hole in dict.fromkeys(each.hole for each in found):
        mine = [each for each in found if each.hole == hole]
        if all(each.found for each in mine):
            yield f"{hole}: " + "; ".join(
                f"{each.symbol} is answered by {', '.join(each.found[:6])}" for each in mine)


def _lines(stage: Stage, holes: Sequence[Hole], job: dict[str, Any]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        Path(folder).chmod(0o755)
        bundle = make_bundle(stage, delegating(stage, holes), Path(folder), holes[0])
        remove_tests(bundle)
        (bundle / "child.py").rename(bundle / "grading_child.py")
        shutil.copy(str(relatives_child.__file__), bundle / "child.py")
        shutil.copy(str(answers.__file__), bundle)
        given = json.dumps(with_sealed(stage, holes[0], job)).encode()
        ended = best_sandbox().run(bundle, [], given, LIMITS)
    if ended.reason or ended.status:
        raise CourseError(f"stage {stage.number}: the search for relatives failed: {why(ended)}: "
                          f"{ended.errors.decode(errors='replace')[-2000:]}")
    return [json.loads(line) for line in ended.output.splitlines()]


def delegating(stage: Stage, holes: Sequence[Hole]) -> dict[str, str]:
    """Return the texts of the stage's modules in which some exercises can hand on their work."""
    texts = {path: module(stage.package, path).text for path in stage.modules}
    for symbol in (each for hole in holes for each in hole.symbols):
        path, _, name = symbol.partition(":")
        source = Module.from_text(path, texts[path])
        function = source.function(name)
        call = f"_relative({_forwarded(function.args)})"
        texts[path] = begun_with(source, name, [
            f"_relative = __import__('relatives').target_of({symbol!r})",
            "if _relative is not None:",
            *([f"    yield from {call}", "    return"] if _yields(function) else
              [f"    return {call}"])])
    return texts


def _yields(node: ast.AST) -> bool:
    """Return whether a function is a generator; functions inside it don't count."""
    return any(isinstance(each, ast.Yield | ast.YieldFrom)
               or (not isinstance(each, Function | ast.Lambda | ast.ClassDef) and _yields(each))
               for each in ast.iter_child_nodes(node))


def _forwarded(given: ast.arguments) -> str:
    """Return the arguments of a call that hands a function's own arguments on."""
    parts = [each.arg for each in (*given.posonlyargs, *given.args)]
    parts += [f"*{given.vararg.arg}"] if given.vararg else []
    parts += [f"{each.arg}={each.arg}" for each in given.kwonlyargs]
    parts += [f"**{given.kwarg.arg}"] if given.kwarg else []
    return ", ".join(parts)
