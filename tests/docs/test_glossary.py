"""The glossary's names exist: ours in the package, PyTorch's in the headers that it comes with."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "minigrad"
PAGE = (ROOT / "docs/en/glossary.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in PAGE.splitlines()
        if line.startswith("| ") and not line.startswith(("| PyTorch |", "| name |"))]
#: The words of autograd: each with its definition and the lesson that teaches it.
WORDS = re.findall(r"^- \*\*(.+?)\*\*: (.*) \[Lesson (\w+)\]\(\.\./\.\./lessons/(\w+)\.md\)$", PAGE,
                   re.MULTILINE)
#: What a learner looks up first.
WANTED = {
    "leaf", "saved-tensor", "version-counter", "vector-jacobian-product",
    "jacobian-vector-product", "tangent", "dual-number", "graph", "node", "edge",
    "topological-order", "hook", "in-place-write", "view", "base", "broadcasting",
    "unbroadcast", "gradient-accumulation", "checkpointing", "double-backward", "retain_graph",
    "create_graph", "no_grad", "inference-mode", "vmap", "gradcheck",
}
#: Rows that compare, of three cells; the others explain names of ours.
COMPARED = [row for row in ROWS if len(row) == 3]
EXPLAINED = [row for row in ROWS if len(row) == 2]


def quoted(cell: str) -> list[str]:
    """Return the names in backquotes, without arguments."""
    return [re.sub(r"\(.*\)$", "", name) for name in re.findall(r"`([^`]+)`", cell)]


@cache
def names_of_the_package() -> set[str]:
    """Return all names that the package defines: modules, classes, functions, attributes, slots."""
    names = {path.stem for path in PACKAGE.rglob("*.py")}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == "__slots__" for t in node.targets):
                names.update(s.value for s in ast.walk(node.value) if isinstance(s, ast.Constant))
    return names


def is_there(name: str) -> bool:
    """Tell whether a path or a name, dotted or not, is in the package."""
    if "/" in name or name.endswith(".py"):
        return any(PACKAGE.glob(name.rstrip("/")))
    if name == "grad_...":  # one method for each input
        return "grad_self" in names_of_the_package()
    # of `t._array` and the like the variable is nobody's, the attribute is the package's
    first, *attributes = name.split(".")
    known = names_of_the_package()
    return all(part in known for part in (attributes or [first]))


def test_every_word_has_a_short_definition_and_its_lesson():
    listed = PAGE.partition("## The words of autograd")[2].partition("\n## ")[0]
    assert len(WORDS) == len(re.findall(r"^- ", listed, re.MULTILINE))
    assert len(WORDS) == len({word.lower() for word, *_ in WORDS})
    for word, definition, number, lesson in WORDS:
        assert len(re.findall(r"[.?](?= |$)", definition)) <= 2, word
        assert lesson.startswith(f"{number}_"), word


def test_the_words_that_a_learner_looks_up_first_are_there():
    words = {re.sub(r" \(.*\)", "", word).strip("`").lower().replace(" ", "-")
             for word, *_ in WORDS}
    assert words >= WANTED


def test_no_name_of_pytorchs_is_explained_twice():
    names = [row[0].partition(" (")[0] for row in COMPARED]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", COMPARED, ids=lambda row: row[0][:40])
def test_our_names_are_in_the_package(row):
    missing = [name for name in quoted(row[1]) if not is_there(name)]
    assert not missing, f"{missing} are not in minigrad/"


@pytest.mark.parametrize("row", EXPLAINED, ids=lambda row: row[0][:40])
def test_explained_names_are_in_the_package(row):
    missing = [name for name in quoted(row[0]) if not is_there(name)]
    assert not missing, f"{missing} are not in minigrad/"


def test_a_name_that_is_gone_is_missed():
    assert not is_there("AutogradExtras") and not is_there("graph/nodes.py")
    assert not is_there("GraphTask.run_nodes")


#: Names of PyTorch's sources that its headers do not show.
IN_SOURCES = {"derivatives.yaml", "tools/autograd/derivatives.yaml", "native_functions.yaml",
              "gen_autograd.py", "engine.cpp", "python_variable_methods.cpp",
              "python_cpp_function.cpp", "BatchRules*.cpp",
              "result:", "call_function", "cpp_function_types", "aten/src/ATen",
              "aten/src/ATen/functorch", "c10/core"}
SEARCHED = ("torch/csrc/autograd/*.h", "torch/csrc/autograd/*/*.h", "torch/csrc/utils/*.h",
            "ATen/*.h", "ATen/functorch/*.h", "ATen/core/enum_tag.h", "ATen/ops/*make_dual.h",
            "ATen/ops/*unpack_dual.h", "ATen/ops/result_type.h", "c10/core/*.h")


@cache
def headers() -> dict[str, str]:
    """Return the text of each of PyTorch's headers that may declare one of the names, by path."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    include = Path(spec.origin).parent / "include"
    return {path.relative_to(include).as_posix(): path.read_text(encoding="utf-8")
            for pattern in SEARCHED for path in include.glob(pattern)}


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="held beside PyTorch")
@pytest.mark.parametrize("row", COMPARED, ids=lambda row: row[0][:40])
def test_pytorchs_names_are_in_its_headers(row):
    names = [name for name in quoted(row[0]) if name not in IN_SOURCES]
    files = [name for name in names if name.endswith(".h")]
    texts = []
    for file in files:
        paths = [path for path in headers()
                 if path == file or path == f"torch/csrc/autograd/{file}"
                 or path == f"torch/csrc/autograd/generated/{file}"]
        assert paths, f"{file} is no header of PyTorch's"
        texts += [headers()[path] for path in paths]
    text = "\n".join(texts or headers().values())
    for name in names:
        if name not in files:
            assert re.search(rf"\b{re.escape(name.split('::')[-1])}\b", text), (
                f"{name} is not in {files or 'a header'}")
