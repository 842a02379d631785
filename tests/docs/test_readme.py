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


def test_no_package_index_is_promised():
    assert "pip install minigrad" not in README


def test_the_address_to_clone_is_a_placeholder_in_one_place():
    assert README.count("git clone") == README.count("git clone ADDRESS minigrad") == 1
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert not re.search(r"git clone (?!ADDRESS)", pages)


#: Each row of README's figures: the table's heading in benchmarks.md, the row there, its column.
FIGURES = {
    "one operation on 8 numbers, no graph":
        ("Small operations", "forward, no input requires grad", 0),
    "one operation, with its graph": ("Small operations", "forward with graph", 0),
    "one operation, forward and backward": ("Small operations", "forward + backward", 0),
    "training step, small network, batch 64": ("A small network", "batch 64, one thread", 0),
    "training step, ResNet-18, one image of 224 x 224": ("ResNet-18", "1x3x224x224, one thread", 0),
    "training step, small GPT": ("Sequences", "GPT 16x64, one thread", 0),
}


def test_the_figures_are_those_of_the_page_that_is_made_from_results():
    page = (ROOT / "docs" / "en" / "benchmarks.md").read_text(encoding="utf-8")
    table = README.partition("| the command |\n")[2].partition("\n\n")[0]
    shown = dict(re.findall(r"^\| (.*?) \| ([\d.]+) \|", table, re.MULTILINE))
    made = {}
    for name, (heading, row, column) in FIGURES.items():
        section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        (cells,) = re.findall(rf"^\| {re.escape(row)} \| (.* \([\d.]+\).*) \|$", section,
                              re.MULTILINE)
        made[name] = re.findall(r"\(([\d.]+)\)", cells)[column]
    assert shown == made


def test_the_missed_targets_are_counted():
    page = (ROOT / "docs" / "en" / "benchmarks.md").read_text(encoding="utf-8")
    sections = {heading: page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
                for heading in ("A small network", "ResNet-18", "Sequences", "Everyday work")}
    everyday = sections.pop("Everyday work")

    def counted(text, target):
        rows = [line for line in text.splitlines() if re.match(rf"\| [^|]*{target} \| ", line)]
        return sum("**missed**" in row for row in rows), len(rows)

    steps, of_steps = counted("".join(sections.values()), ", 2 threads, minigrad / PyTorch")
    work, of_work = counted(everyday, ", (mean|largest ratio)")
    assert of_steps and of_work
    assert (f"training steps missed {steps} of their {of_steps} targets on two threads, and "
            f"everyday work missed {work} of {of_work} on one") in README


ASSETS = ROOT / "docs" / "en" / "assets"
MOVING, STILL = ((ASSETS / name).read_text(encoding="utf-8")
                 for name in ("first_verdict.svg", "first_verdict_still.svg"))


def test_the_picture_of_a_verdict_moves_without_a_script_and_stands_still_on_request():
    assert len(MOVING.encode()) < 60_000
    assert "<script" not in MOVING and MOVING.count("http") == 1  # SVG's own name
    assert "@keyframes" in MOVING and "prefers-reduced-motion:reduce" in MOVING
    assert "prefers-color-scheme:dark" in MOVING
    assert "animation" not in STILL and shown_text(STILL) == shown_text(MOVING)
    moving, still = '<img src="docs/en/assets/first_verdict.svg"', "first_verdict_still.svg"
    assert README.index(moving) < README.index("```python")  # on the first screen
    assert f'media="(prefers-reduced-motion: reduce)" srcset="docs/en/assets/{still}"' in README


def test_the_picture_says_in_words_what_it_shows():
    (alt,) = re.findall(r'<img [^>]* alt="([^"]*)"', README)
    assert f"<desc id=\"first-verdict-desc\">{alt}</desc>" in MOVING and len(alt) > 100


def test_the_picture_shows_the_verdict_that_the_readme_quotes():
    (verdict,) = re.findall(r"^```console\n(wrong .*?)^```$", README, re.MULTILINE | re.DOTALL)
    shown = " ".join(re.findall(r"<text [^>]*>(.*?)</text>", MOVING))
    assert " ".join(verdict.split()) in shown and "solved 00.1 Measure a slope" in shown


@pytest.mark.slow
def test_the_picture_of_a_verdict_is_the_one_that_is_made():
    pytest.importorskip("rich", reason="the course is not installed")
    from minigrad_course.dev.first_verdict import pictures_of_readme

    for file, text in pictures_of_readme(ROOT).items():
        assert file.read_text(encoding="utf-8") == text, "make it again: minigrad dev picture"


@pytest.mark.slow
def test_the_verdict_is_the_one_that_is_given(tmp_path):
    pytest.importorskip("rich", reason="the course is not installed")
    (answer,) = re.findall(r"from one side only: `(.*?)`", README)
    (verdict,) = re.findall(r"^```console\n(wrong .*?)^```$", README, re.MULTILINE | re.DOTALL)
    around = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}

    def minigrad(*words: str) -> str:
        return subprocess.run([sys.executable, "-m", "minigrad_course", *words], cwd=tmp_path,
                              env=around, capture_output=True, encoding="utf-8").stdout

    minigrad("init", ".")
    file = tmp_path / "exercises" / "00_chain_rule.py"
    shipped = file.read_text(encoding="utf-8")
    hole = 'raise NotImplementedError("00.1 Measure a slope is yours to write")'
    assert hole in shipped
    file.write_text(shipped.replace(hole, f"return {answer}"), encoding="utf-8")
    given = re.sub(" +$", "", minigrad("run", "00.1"), flags=re.MULTILINE)
    assert given.startswith(verdict)
