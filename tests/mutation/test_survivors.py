"""The list of mutants that no test has to notice stays true to the code."""

from __future__ import annotations

import ast
import gc
import re
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SURVIVORS = [row for row in tomllib.loads(
    (HERE / "survivors.toml").read_text(encoding="utf-8"))["survivor"]
    if (ROOT / "minigrad" / "codegen").is_dir() or not row["path"].startswith("minigrad/codegen/")]


def functions(tree: ast.AST, prefix: str = "") -> dict[str, list[ast.AST]]:
    """Every function of a module by its qualified name; a property's parts share one."""
    found: dict[str, list[ast.AST]] = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            name = prefix + node.name
            if isinstance(node, ast.FunctionDef):
                found.setdefault(name, []).append(node)
            else:
                for inner, nodes in functions(node, name + ".").items():
                    found.setdefault(inner, []).extend(nodes)
    return found


@pytest.mark.parametrize("row", SURVIVORS, ids=lambda row: f"{row['function']}: {row['after']}")
def test_a_listed_mutant_is_one_that_can_still_be_made(row):
    assert set(row) == {"path", "function", "before", "after", "reason"}
    assert row["before"] != row["after"] and len(row["reason"]) > 20
    source = (ROOT / row["path"]).read_text(encoding="utf-8")
    bodies = [ast.get_source_segment(source, node) or ""
              for node in functions(ast.parse(source)).get(row["function"], ())]
    assert any(row["before"] in body for body in bodies), "this line is no longer in the function"


def test_none_is_listed_twice():
    keys = [tuple(row[name] for name in ("path", "function", "before", "after"))
            for row in SURVIVORS]
    assert len(keys) == len(set(keys))


def test_functions_are_found_among_what_was_frozen():
    pytest.importorskip("coverage", reason="the tool for mutants is not installed")
    pytest.importorskip("mutmut", reason="the tool for mutants is not installed")
    from minigrad.graph import node
    from tests.mutation.runner import functions_by_file

    gc.freeze()
    try:
        assert functions_by_file()[node.__file__]
    finally:
        gc.freeze()


def test_the_files_that_the_tool_runs_exist():
    # Read, not imported: the tool needs packages of its own.
    text = "".join((HERE / f"{name}.py").read_text(encoding="utf-8")
                   for name in ("__main__", "runner"))
    lists = re.findall(r'(?:TESTS|COLD) = (?:"""|\[)(.*?)(?:"""|\]\n)', text, re.DOTALL)
    names = re.findall(r"\b(?:[a-z]+/)?[a-z_]{4,}\b", " ".join(lists))
    wanted = {HERE.parent / folder / f"test_{name}.py" for folder, _, name in (
        each.rpartition("/") for each in names if each not in ("path_of", "name"))}
    assert len(wanted) > 30
    assert [path for path in wanted if not path.exists() and path.parent.name != "codegen"] == []
