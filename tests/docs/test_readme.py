"""What the README shows is what happens: its Python runs and prints the text that follows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = ROOT / "docs" / "en" / "assets" / "graph.svg"

FENCES = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
EXAMPLES = [
    (code, following[1])
    for (kind, code), following in pairwise(FENCES)
    if kind == "python" and following[0] == "text"
]


def run(code: str, folder: Path) -> str:
    """Run code in a process of its own, where sequence numbers start at 0."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "utf8", "-c", code],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def drawing_line() -> str:
    """The one line with which, the README says, its picture was made."""
    (line,) = re.findall(r"made by `(viz\.graph\(.*?\.svg\(.*?\))`", README)
    return line


def test_every_python_block_has_an_output_to_compare():
    assert len(EXAMPLES) == sum(kind == "python" for kind, _ in FENCES) >= 1


@pytest.mark.parametrize(("code", "expected"), EXAMPLES)
def test_the_example_prints_what_stands_below_it(code, expected, tmp_path):
    assert run(code, tmp_path) == expected


def shown_text(svg: str) -> list[str]:
    """What an SVG says, without the layout, which differs between versions of Graphviz."""
    return sorted(re.findall(r"<text [^>]*>(.*?)</text>", svg))


def test_the_picture_shows_the_nodes_of_the_example():
    text = " ".join(shown_text(PICTURE.read_text(encoding="utf-8")))
    printed = EXAMPLES[0][1]
    names = re.findall(r"\w+Backward\d?|AccumulateGrad \w+", printed)
    assert len(names) >= 5
    for name in names:
        assert name in text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("dot") is None, reason="the program dot (Graphviz) is missing")
def test_the_picture_is_made_as_the_readme_says(tmp_path):
    pytest.importorskip("graphviz", reason="the Python package graphviz is not installed")
    run(f"{EXAMPLES[0][0]}\n{drawing_line()}\n", tmp_path)
    made = (tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert shown_text(made) == shown_text(PICTURE.read_text(encoding="utf-8"))


def test_every_local_link_leads_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_no_package_index_is_promised():
    assert "pip install minigrad" not in README
