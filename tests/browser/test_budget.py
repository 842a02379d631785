"""How much a reader has to fetch: a lesson's text, and Python when it is first run."""

from __future__ import annotations

import ast
import gzip
import json
import re
from pathlib import Path

import pytest
from offline import FILES, kept

#: Bytes, as a server sends them: packed where that helps.
TEXT, PYTHON, KEPT = 500_000, 9_000_000, 3_000_000
LESSONS = sorted(path.stem for path in
                 (Path(__file__).resolve().parents[2] / "lessons").glob("*_*.md"))


def sent(file: Path) -> int:
    content = file.read_bytes()
    return min(len(content), len(gzip.compress(content, 9)))


@pytest.mark.parametrize("key", LESSONS)
def test_the_text_of_a_lesson_is_small(built, key):
    page = built / "lessons" / key / "index.html"
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(
        r'<(?:link|script)[^>]*?(?:href|src)="([^":]+\.(?:css|js|woff2))"', text))
    assert len(named) > 5
    files = {(page.parent / each).resolve() for each in named}
    runtime = set((built / "runtime").glob("*.js")) - {built / "runtime" / name for name in
                                                       ("editor.js", "viz.js", "worker.js")}
    assert sum(map(sent, {page, *files, *runtime})) < TEXT


def test_the_first_python_is_small(built):
    runtime = built / "runtime"
    manifest = json.loads((runtime / "manifest.json").read_text(encoding="utf-8"))
    files = [runtime / manifest[name]["path"].partition("?")[0]
             for name in ("package", "compiled_package")]
    files += [each for each in (runtime / "pyodide").iterdir()]
    total = sum(map(sent, files))
    assert total < PYTHON
    assert f"PYTHON_BYTES = {total};" in (runtime / "sizes.js").read_text(encoding="utf-8")
    assert not list(runtime.rglob("*.wasm"))  # a host may not compress it
    assert all((runtime / name).stat().st_size == size for name, size in manifest["sizes"].items()
               if name != "manifest.json")


@pytest.mark.parametrize("key", LESSONS)
def test_what_a_lesson_imports_is_not_left_out(built, key):
    runtime = built / "runtime"
    left_out = json.loads((runtime / "manifest.json").read_text(encoding="utf-8"))["rest"]
    found = json.loads((runtime / "imported.json").read_text(encoding="utf-8"))
    assert {*found["first"]}.isdisjoint(left_out["library"] + left_out["rest"])
    assert {*found["course"]}.isdisjoint(left_out["rest"])
    assert {"numpy.ma", "multiprocessing"} <= {*left_out["rest"]}
    page = (built / "lessons" / key / "index.html").read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="mg-data">(.*?)</script>', page, re.S)
    for block in json.loads(data[1])["blocks"]:
        if block["kind"] in ("run", "draft", "raises"):
            for node in ast.walk(ast.parse(block["code"])):
                named = ([each.name for each in node.names] if isinstance(node, ast.Import) else
                         [node.module] if isinstance(node, ast.ImportFrom) else [])
                for name in named:
                    parts = name.split(".")
                    assert {parts[0], ".".join(parts[:2])}.isdisjoint(
                        left_out["library"] + left_out["rest"]), name


def test_what_the_browser_keeps_of_the_site_is_small(built):
    assert sum(map(sent, kept(built, FILES))) < KEPT
