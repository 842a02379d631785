"""Texts that can be compared: an exercise that is not Python hides none of the others.

Grading takes such an exercise out and grades the rest, so the rest is compared as well.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..content.stages import Stage
from ..running.learner_files import LearnerFiles

__all__ = ["parsed", "readable"]


def readable(stage: Stage, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of a submission as they are graded."""
    repaired = LearnerFiles(stage, texts).repaired()
    return {path: repaired[path].text if path in repaired else text
            for path, text in texts.items()}


def parsed(text: str) -> ast.Module | None:
    """Return a text's syntax tree; None if it is not Python or too deep to be read."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
