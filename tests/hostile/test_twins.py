"""The code that a hole replaces is not in the graded process under another name."""

from __future__ import annotations

import ast
from functools import cache

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.child_process.swap import Swapped
from minigrad_course.content.source import blank, module
from minigrad_course.content.stages import stages
from minigrad_course.grading.bundle import make_bundle
from tests.support.attacks import STAGE
from tests.support.slow import slow_but

STAGES = [stage for stage in stages() if stage.holes]
#: A body with fewer nodes of the syntax tree says too little to be somebody's answer.
TELLING = 40


def shape(function):
    """Return a body's nodes in order: names are numbered, docstrings and annotations are gone."""
    names, found = {}, []
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    for node in (each for statement in body for each in ast.walk(statement)):
        name = getattr(node, "id", None) or getattr(node, "arg", None)
        known = names.setdefault(name, len(names)) if isinstance(name, str) else None
        found.append((type(node).__name__, known, getattr(node, "attr", None),
                      repr(getattr(node, "value", None)) if isinstance(node, ast.Constant) else ""))
    return tuple(found)


@cache
def functions(text):
    """Return the functions of a file by the shape of their bodies."""
    tree = ast.parse(text)
    return {shape(each): each.name for each in ast.walk(tree)
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


def twins(stage, folder):
    """Yield a hole, and the place where its body stands under another name."""
    texts = {path: blank(stage, path, list(stage.holes)) for path in stage.modules}
    bundle = make_bundle(stage, texts, folder / "bundle", stage.holes[0])
    answers = {}
    # beside the package each exercise has a bundle, with the package's version of the others
    for hole in stage.holes[:1] if stage.beside else stage.holes:
        for symbol in hole.symbols:
            path, _, name = symbol.partition(":")
            found = shape(module(stage.package, path).function(name))
            if len(found) >= TELLING:
                answers[found] = hole.id
    for file in sorted(bundle.rglob("*.py")):
        for each, name in functions(file.read_text(encoding="utf-8")).items():
            if each in answers:
                yield answers[each], f"{file.relative_to(bundle)}:{name}"


@pytest.mark.parametrize("stage", slow_but(1, STAGES), ids=lambda stage: stage.key)
def test_no_answer_stands_in_the_bundle(stage, tmp_path):
    assert list(twins(stage, tmp_path)) == []


def test_a_twin_would_be_found(tmp_path):
    """The answer under other names is one."""
    hole = STAGE.holes[0]
    path, _, name = hole.symbols[0].partition(":")
    function = module(STAGE.package, path).function(name)
    other = ast.parse(ast.unparse(function).replace("self", "other")).body[0]
    assert shape(function) == shape(other)
    assert shape(function) != shape(ast.parse("def f():\n    return 1").body[0])


@pytest.mark.parametrize("stage", slow_but(1, STAGES), ids=lambda stage: stage.key)
def test_codegen_cannot_be_imported(stage, tmp_path):
    bundle = make_bundle(stage, None, tmp_path / "bundle")
    assert not [each for each in bundle.rglob("*") if each.name.partition(".")[0] == "codegen"]
    with pytest.raises(ImportError, match=r"minigrad\.codegen cannot be imported"):
        Swapped({}).find_spec("minigrad.codegen")
