"""One line that says what the skipped tests wait for, in place of a list of all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

#: Words in the reason of a skip -> what such a test waits for; the first that fits holds.
WAITS = {
    r"imaginary-gpu": "`make imaginary-gpu`",
    r"site-browser": "`make site-browser`",
    r"MINIGRAD_ALL_MUTANTS": "MINIGRAD_ALL_MUTANTS=1",
    r"MINIGRAD_EXPORT_WHOLE": "`make export-full`",
    r"CUDA|cuDNN|cuBLAS|NVIDIA": "a CUDA device and its libraries",
    r"built site|Playwright|Chromium|Firefox": "`make site-check`",
    r"compares? with PyTorch|PyTorch is not installed": "PyTorch",
    r"is not installed|is missing|needs (Node|mypy)": "a program or package",
}


def waiting(reasons: Iterable[str]) -> str:
    """Return one line: how many tests were skipped, and what they wait for.

    >>> waiting(["needs a CUDA device and CuPy"] * 1200 + ["compares with PyTorch"])
    '1,201 skipped, waiting for: a CUDA device and its libraries (1,200), PyTorch (1)'
    """
    counts = Counter(next((words for pattern, words in WAITS.items() if re.search(pattern, reason)),
                          "other things, listed by -rs") for reason in reasons)
    if not counts:
        return ""
    waits = ", ".join(f"{words} ({count:,})" for words, count in counts.most_common())
    return f"{counts.total():,} skipped, waiting for: {waits}"
