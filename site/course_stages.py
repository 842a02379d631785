"""The course's stages, read once for all pages."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from minigrad_course.content.stages import Stage, stages

__all__ = ["stages_of"]


@cache
def stages_of(root: Path) -> tuple[Stage, ...]:
    """Return the stages of the checkout at `root`, in order."""
    return tuple(stages(root))
