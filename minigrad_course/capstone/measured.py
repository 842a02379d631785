"""Results that a program of the capstone returns to the command that started it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["write_result"]


def write_result(file: str, **facts: Any) -> None:
    """Write results as JSON, with the names of the package's modules that are loaded."""
    facts["modules"] = sorted(name for name in sys.modules if name.partition(".")[0] == "minigrad")
    Path(file).write_text(json.dumps(facts), encoding="utf-8")
