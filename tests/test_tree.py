"""The package that is tested is the one beside the tests; the tests that documents name exist."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import minigrad

ROOT = Path(__file__).resolve().parents[1]


def test_the_package_lies_beside_its_tests():
    assert Path(minigrad.__file__).parent == ROOT / "minigrad"


def test_the_quick_twins_and_their_tests_are_there_together_or_not_at_all():
    # `make test-generic` runs the tests in a copy without both.
    assert (find_spec("minigrad.fast") is not None) == (ROOT / "tests" / "fast").is_dir()


def test_files_of_tests_that_are_named_exist():
    files = [ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("*.md"),
             *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("tests/**/*.py"),
             *ROOT.glob("minigrad_course/**/*.py")]
    missing = {(str(file.relative_to(ROOT)), name) for file in files
               for name in re.findall(r"\btests/[a-z_0-9/]+\.py\b", file.read_text("utf-8"))
               if not (ROOT / name).is_file()}
    assert not missing
