"""Stages that a learner skips: the package's own code is used for them.

progress.json keeps their numbers, as "skipped".
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..content.stages import Stage, stages
from .workspace import Workspace

__all__ = ["own_files", "skip", "skipped", "solved_stages", "unskip"]


def skipped(space: Workspace) -> set[str]:
    """Return the numbers of the stages that are skipped."""
    return set(space.progress().get("skipped", ()))


def skip(space: Workspace, chosen: Iterable[Stage]) -> list[Stage]:
    """Skip stages that have exercises; return those that were not skipped before."""
    before = skipped(space)
    new = [stage for stage in chosen if stage.holes and stage.number not in before]
    space.keep(skipped=sorted(before | {stage.number for stage in new}))
    return new


def unskip(space: Workspace, chosen: Iterable[Stage]) -> list[Stage]:
    """Skip stages no longer; return those that were skipped before."""
    before = skipped(space)
    back = [stage for stage in chosen if stage.number in before]
    space.keep(skipped=sorted(before - {stage.number for stage in back}))
    return back


def own_files(space: Workspace, chosen: Iterable[Stage]) -> list[tuple[Stage, dict[str, Path]]]:
    """Return the learner's files that stand in for the package's modules, for each stage.

    The modules of a skipped stage stay the package's own.
    """
    left_out = skipped(space)
    return [(stage, space.files(stage)) for stage in chosen
            if stage.modules and stage.number not in left_out]


def solved_stages(space: Workspace) -> list[Stage]:
    """Return the stages of which every exercise is solved."""
    return [stage for stage in stages()
            if stage.holes and all(space.solved(hole) for hole in stage.holes)]
