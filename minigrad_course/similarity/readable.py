"""Texts that can be compared even if one of their exercises is not Python.

Grading removes such an exercise, and lines at the top level that aren't Python, and grades the
rest, so the rest is compared as well.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..content.stages import Stage
from ..content.stray_lines import without_stray_lines
from ..running.learner_files import LearnerFiles

__all__ = ["parsed", "readable"]


def readable(stage: Stage, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of a submission in the form in which they are graded.

    So lines that aren't Python neither hide a copy nor make an answer look empty.
    """
    texts = {path: without_stray_lines(text) for path, text in texts.items()}
    repaired = LearnerFiles(stage, texts).repaired()
    return {path: repaired[path].text if path in repaired else text
            for path, text in texts.items()}


def parsed(text: str) -> ast.Module | None:
    """Return a text's syntax tree, or `None` if it is not Python or too deeply nested."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
