"""Texts that can be compared: an exercise that is not Python hides none of the others.

Grading takes such an exercise out and grades the rest, so the rest is compared as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..desk import Desk
from ..stages import Stage

__all__ = ["readable"]


def readable(stage: Stage, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of a submission as they are graded."""
    repaired = Desk(stage, texts).repaired()
    return {path: repaired[path].text if path in repaired else text
            for path, text in texts.items()}
