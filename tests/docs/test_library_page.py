"""What the pages for library users say about extras and GPUs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = (ROOT / "docs/en/library.md").read_text(encoding="utf-8")
GPU = (ROOT / "docs/en/gpu.md").read_text(encoding="utf-8")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"]


def extras_of(page: str) -> list[str]:
    """Return the extras in a page's table of them."""
    table = re.search(r"^\| extra \| .*\n\|---\|---\|\n((?:\|.*\n)+)", page, re.MULTILINE)
    assert table
    return [name for row in table[1].splitlines()
            for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]


def test_the_table_of_extras_has_each_extra_once():
    assert sorted(extras_of(LIBRARY)) == sorted(EXTRAS)


def test_the_page_on_gpus_has_each_extra_for_gpus():
    assert sorted(extras_of(GPU)) == sorted(name for name in EXTRAS if name.startswith("gpu-"))


def test_every_page_that_names_the_gpu_backend_says_whether_it_has_run_on_a_gpu():
    assert "**No, not yet: we have not run anything on this page on a GPU.**" in GPU
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line for line in readme.splitlines() if line.startswith("|") and "CuPy" in line]
    assert len(rows) == 2 and all("not yet tested on real hardware" in row for row in rows)
    assert "through CuPy, not yet tested on real hardware" in LIBRARY
