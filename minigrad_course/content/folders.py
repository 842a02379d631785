"""The folders in which the course and its package are installed."""

from __future__ import annotations

from pathlib import Path

__all__ = ["COURSE", "PACKAGE", "ROOT"]

#: The folder of this package, `minigrad_course`.
COURSE = Path(__file__).resolve().parents[1]
#: The folder with `minigrad` and `minigrad_course`, to put on `sys.path`.
ROOT = COURSE.parent
#: The folder of the package `minigrad`.
PACKAGE = ROOT / "minigrad"
