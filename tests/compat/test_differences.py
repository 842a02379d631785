"""Both libraries return or raise what each row of docs/en/differences.md says."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import minigrad

PAGE = (Path(__file__).resolve().parents[2] / "docs/en/differences.md").read_text("utf-8")


class Row(NamedTuple):
    """A program, and what PyTorch and minigrad show for it."""

    program: str
    theirs: str
    ours: str


ROWS = [Row(*found) for found in re.findall(r"^\| `(.+?)` \| `(.+?)` \| `(.+?)` \|", PAGE, re.M)]
(HELPERS,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


def shown(engine: Any, program: str) -> str:
    """Return the result of a program, or the class of its error and the first line of its text."""
    names = {"torch": engine, "np": np, "warnings": warnings}
    helpers = HELPERS.replace("from torch", f"from {engine.__name__}")
    exec(helpers, names)
    engine.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows are about results and errors
        try:
            text = repr(eval(program, names))
        except Exception as error:
            text = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    text = text.replace("Backward0", "Backward").replace("minigrad.", "torch.")
    return re.sub(r"\s+", " ", text)


def check(engine: Any, program: str, said: str) -> None:
    text = shown(engine, program)
    if said.endswith(" …"):
        text = text[:len(said) - 2] + " …"
    assert text == said


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.program)
def test_minigrad_shows_what_the_page_says(row: Row) -> None:
    check(minigrad, row.program, row.ours)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.program)
def test_pytorch_shows_what_the_page_says(row: Row) -> None:
    check(pytest.importorskip("torch", reason="compares with PyTorch"), row.program, row.theirs)


def test_all_rows_are_read_and_differ() -> None:
    assert len(ROWS) == PAGE.count("\n| `") >= 30
    assert all(row.theirs != row.ours for row in ROWS)
