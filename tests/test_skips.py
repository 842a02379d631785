"""The last lines of a test run: one sentence says what the skipped tests wait for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests import conftest
from tests.support.skips import waiting

GPU = "needs a CUDA device and CuPy"
OTHERS = ["PyTorch is not installed", "Playwright drives the browser", "there is one"]


@pytest.mark.parametrize(("reasons", "line"), [
    ([], ""),
    (["Skipped: compares with PyTorch"] * 2, "2 skipped, waiting for: PyTorch (2)"),
    ([GPU] * 1200 + OTHERS * 3,
     "1,209 skipped, waiting for: a CUDA device and its libraries (1,200), PyTorch (3), "
     "`make site-check` (3), other things, listed by -rs (3)"),
])
def test_what_skipped_tests_wait_for(reasons, line):
    assert waiting(reasons) == line


@pytest.mark.parametrize("listed", [False, True])
def test_the_line_stands_at_the_end_of_a_run(listed):
    lines = []
    reporter = SimpleNamespace(
        stats={"skipped": [SimpleNamespace(longrepr=("file.py", 3, "Skipped: there is one"))]},
        write_line=lines.append, hasopt=lambda letter: listed)
    conftest.pytest_terminal_summary(reporter)
    assert lines == ([] if listed else ["1 skipped, waiting for: other things, listed by -rs (1)"])
