"""The site's pages: their examples print what they show, and the plan of the site has each."""

from __future__ import annotations

import contextvars
import doctest
import re
from pathlib import Path

import pytest
from made import made_pages

import minigrad as torch
from minigrad import viz

ROOT = Path(__file__).resolve().parents[2]
MADE = made_pages()  # the pages that are made when the site is built
DOCS = ROOT / "docs" / "en"
PAGES = sorted(DOCS.rglob("*.md"))
NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
STEPPER = DOCS / "assets" / "backward.html"

OPTIONS = doctest.NORMALIZE_WHITESPACE


def examples(text: str) -> str:
    """Return the `pycon` blocks of a page one after the other, each on the line it stands on."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = line == "```pycon"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


def run(text: str, name: str) -> str:
    """Run a page's examples as a fresh thread would, and return what differs.

    Sequence numbers start at 0, because they belong to a context.
    """
    shown: list[str] = []
    test = doctest.DocTestParser().get_doctest(examples(text), {}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    contextvars.Context().run(runner.run, test, out=shown.append)
    return "".join(shown)


WITH_EXAMPLES = [page for page in PAGES if "```pycon" in page.read_text(encoding="utf-8")]


# said on purpose where it is switched on
@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_print_what_stands_there(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    differences = run(page.read_text(encoding="utf-8"), page.name)
    assert not differences, differences


def test_a_wrong_example_is_found():
    page = "Text.\n\n```pycon\n>>> 1 + 1\n3\n\n```\n"
    assert re.search(r"Expected:\n +3\nGot:\n +2", run(page, "page"))


def test_pages_share_nothing_and_blocks_of_a_page_do():
    assert not run("```pycon\n>>> a = 1\n\n```\n\n```pycon\n>>> a\n1\n\n```\n", "one")
    assert "NameError" in run("```pycon\n>>> a\n1\n\n```\n", "other")


def test_every_page_is_in_the_sites_plan():
    planned = set(re.findall(r"^ +- .*: (\S+\.md)$", NAV, re.MULTILINE))
    assert planned - set(MADE) == {page.relative_to(DOCS).as_posix() for page in PAGES}


@pytest.mark.parametrize("file", ["design.md", "assets/design.svg"])
def test_the_design_names_files_that_are_there(file):
    text = (DOCS / file).read_text(encoding="utf-8")
    names = set(re.findall(r"\b[\w/]+\.py\b", text))
    assert names
    for name in names:
        found = (ROOT / "minigrad" / name, ROOT / name)
        assert any(path.is_file() for path in found) if "/" in name else [
            *(ROOT / "minigrad").rglob(name)], name


def test_the_designs_tree_is_that_of_the_package():
    text = (DOCS / "design.md").read_text(encoding="utf-8")
    tree = text.partition("```text\nminigrad/\n")[2].partition("\nminigrad_course/")[0]
    named = set(re.findall(r"(?:^| {2})([\w.]+?)(?:/|(?<=\.py))(?= |$)", tree, re.MULTILINE))
    there = {path.name for path in (ROOT / "minigrad").iterdir()
             if path.suffix in ("", ".py") and path.name != "__pycache__"}
    assert named == there


def stepper_page() -> str:
    """The site's example of a stepper: the program of engine.md, its names too."""

    def made() -> str:
        gemfield = torch.ones(2, 2, requires_grad=True)
        syszux = gemfield + 2
        civilnet = syszux * syszux * 3
        gemfieldout = civilnet.mean()
        return viz.backward_steps(gemfieldout, names=locals()).html

    return contextvars.Context().run(made)


def test_the_stepper_of_the_site_is_the_one_that_is_made():
    assert STEPPER.read_text(encoding="utf-8") == stepper_page(), (
        "make it again: PYTHONPATH=.:site python -m tests.docs.test_pages"
    )


if __name__ == "__main__":
    STEPPER.write_text(stepper_page(), encoding="utf-8")
