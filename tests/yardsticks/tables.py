"""What is known to disagree, and how many samples the tests take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .ops import Report

#: Entries that are absent or disagree, and in what; `python -m tests.yardsticks --write` makes it.
KNOWN = Path(__file__).with_name("known.json")

#: The most samples of an entry, and a quarter of the most inputs that are refused.
LIMIT = 4


def known() -> dict[str, dict[str, str]]:
    """Return the entries of each database that are known to disagree."""
    tables: dict[str, dict[str, str]] = json.loads(KNOWN.read_text("utf-8"))
    return tables


def failing(reports: list[Report]) -> dict[str, Any]:
    """Return the entries that are absent or disagree, and in what."""
    return {report.name: report.failing for report in reports if report.failing}
