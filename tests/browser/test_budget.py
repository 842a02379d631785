"""How much a reader has to fetch: a lesson's text, and Python when it is first run."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from offline import FILES, kept

#: Bytes, as a server sends them: packed where that helps.
TEXT, PYTHON, KEPT = 500_000, 12_000_000, 3_000_000
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
    assert sum(map(sent, files)) < PYTHON
    assert all((runtime / name).stat().st_size == size for name, size in manifest["sizes"].items()
               if name != "manifest.json")


def test_what_the_browser_keeps_of_the_site_is_small(built):
    assert sum(map(sent, kept(built, FILES))) < KEPT
