"""Stages that a learner skips, so that the package's own code is used for them.

progress.json stores their numbers as "skipped".
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..content.stages import Stage, stages
from .workspace import Workspace

__all__ = ["own_files", "skip", "skipped", "solved_stages", "uncounted", "unskip"]


def skipped(space: Workspace) -> set[str]:
    """Return the numbers of the skipped stages."""
    return set(space.progress().get("skipped", ()))


def skip(space: Workspace, chosen: Iterable[Stage]) -> list[Stage]:
    """Skip stages that have exercises; return the ones that were not skipped before."""
    before = skipped(space)
    new = [stage for stage in chosen if stage.holes and stage.number not in before]
    space.keep(skipped=sorted(before | {stage.number for stage in new}))
    return new


def unskip(space: Workspace, chosen: Iterable[Stage]) -> list[Stage]:
    """Stop skipping stages; return the ones that had been skipped."""
    before = skipped(space)
    back = [stage for stage in chosen if stage.number in before]
    space.keep(skipped=sorted(before - {stage.number for stage in back}))
    return back


def uncounted(space: Workspace) -> set[str]:
    """Return the numbers of the stages that do not count: skipped ones, and encores not begun.

    An encore is a stage after the capstone, the one without exercises.  It counts from its first
    solved exercise on.
    """
    known = stages()
    capstone = next((n for n, stage in enumerate(known) if not stage.holes), len(known))
    return skipped(space) | {stage.number for stage in known[capstone + 1:]
                             if not any(map(space.solved, stage.holes))}


def own_files(space: Workspace, chosen: Iterable[Stage]) -> list[tuple[Stage, dict[str, Path]]]:
    """Return the learner's files that replace the package's modules, for each stage.

    A skipped stage keeps the package's own modules.
    """
    left_out = skipped(space)
    return [(stage, space.files(stage)) for stage in chosen
            if stage.modules and stage.number not in left_out]


def solved_stages(space: Workspace) -> list[Stage]:
    """Return the stages in which every exercise is solved."""
    return [stage for stage in stages()
            if stage.holes and all(space.solved(hole) for hole in stage.holes)]
