"""Make exercises from scratch: modules with only names, signatures and docstrings.

NOTE [From scratch]
    Every body of a module is blanked, whether it is an exercise or not.  Private helpers that are
    not used outside the module are left out, so that the learner decides how to split up the work.
    Imports, constants and code that runs while the package is imported stay, because the package
    must be importable before the first test can run.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from ..child_process import import_tracer
from ..content.source import Function, Module, blanked_body, body_span, docstring_of, module
from ..content.stages import CourseError, Stage, stages
from ..running.trial import module_name

__all__ = ["from_scratch", "functions_run_on_import"]


def from_scratch(stage: Stage, path: str) -> str:
    """Return the text of the exercise for a module of the stage, with every body left to write."""
    source = module(stage.package, path)
    text = "\n".join(_blanked(stage, source)) + "\n"
    while (shorter := _without_helpers(stage, Module(path, text, ast.parse(text)))) != text:
        text = shorter
    first = stage.handed_out(path).partition("\n\n")[0]
    return f"{first}\n\n{text}"


def _blanked(stage: Stage, source: Module) -> list[str]:
    """Return a module's lines with every body blanked, unless it runs on import."""
    holes = {symbol.partition(":")[2]: hole for hole in stage.holes for symbol in hole.symbols
             if symbol.startswith(f"{source.path}:")}
    early, lines = functions_run_on_import(stage.root), source.lines
    task_at: dict[str, str] = {}
    for name, _ in source.functions():
        if name in holes:
            task_at.setdefault(holes[name].id, name)
    for name, function in reversed(list(source.functions())):
        first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
        hole = holes.get(name)
        if hole is None and (source.path, first) in early:
            continue
        try:
            begin, end = body_span(source, function)
        except CourseError:
            continue  # a one-line body or only a docstring: there is no code to write
        if hole is not None:
            task = blanked_body(stage, hole, "" if task_at[hole.id] == name else task_at[hole.id])
        else:
            task = [f"raise NotImplementedError("
                    f"{json.dumps(f'{stage.number}.0 {name} is yours to write')})"]
        indent = " " * (function.col_offset + 4)
        lines[begin - 1 : end] = [indent + line for line in task]
    return lines


def _without_helpers(stage: Stage, source: Module) -> str:
    """Return a module's text without unused private functions and classes."""
    lines = source.lines
    kept = {symbol.partition(":")[2].rpartition(".")[2] for hole in stage.holes
            for symbol in hole.symbols if symbol.startswith(f"{source.path}:")}
    own = re.findall(r"\w+", _code(source.tree))

    def superfluous(each: ast.stmt) -> bool:
        return (isinstance(each, Function | ast.ClassDef) and each.name.startswith("_")
                and not each.name.endswith("__") and each.name not in kept
                and own.count(each.name) == 1
                and each.name not in _words_elsewhere(stage, source.path))

    left_out = [each for each in source.tree.body if superfluous(each)]
    for owner in source.tree.body:
        if isinstance(owner, ast.ClassDef) and owner not in left_out:
            methods = [each for each in owner.body if superfluous(each)]
            left_out += methods if len(methods) < len(owner.body) else methods[1:]
    spans = [source.span(each) for each in left_out]
    for first, last in sorted(spans, reverse=True):
        while first > 1 and not lines[first - 2].strip():
            first -= 1
        del lines[first - 1 : last]
    return "\n".join(lines).rstrip("\n") + "\n"


def _code(tree: ast.Module) -> str:
    """Return a module's code without comments and docstrings, which may mention removed names."""
    tree = ast.parse(ast.unparse(tree))
    owners = [each for each in ast.walk(tree)
              if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]
    for owner in (tree, *owners):
        if docstring_of(owner):
            owner.body[0] = ast.Pass()
    return ast.unparse(tree)


@cache
def _words_elsewhere(stage: Stage, path: str) -> frozenset[str]:
    """Return every word in the package outside this module, and in the stage's tests."""
    files = [each for each in stage.package.rglob("*.py") if each != stage.package / path]
    probing = stage.probes.with_name("probing.py")
    files += [each for each in (stage.tests, stage.symptoms, stage.probes, probing)
              if each.is_file()]
    return frozenset(word for each in files
                     for word in re.findall(r"\w+", each.read_text(encoding="utf-8")))


@cache
def functions_run_on_import(root: Path) -> frozenset[tuple[str, int]]:
    """Return the functions that run while the package is imported, by module and first line."""
    known = stages(root)
    package = known[0].package
    names = sorted({module_name(path) for stage in known for path in stage.modules})
    done = subprocess.run([sys.executable, import_tracer.__file__,
                           str(package), *names], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"cannot import the package: {done.stderr.strip()[-500:]}")
    pairs = (line.rpartition(" ") for line in done.stdout.splitlines())
    return frozenset((path, int(line)) for path, _, line in pairs)
