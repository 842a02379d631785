"""Combine a learner's own engine: solved stages, and solved exercises of the current one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..content.stages import Stage
from ..running.compose import Source
from ..running.learner_files import LearnerFiles, combine_files
from .skipped_stages import own_files, skipped, solved_stages
from .workspace import Workspace

__all__ = ["Engine", "own_engine"]

#: The files by path in the package, and the composed modules.
Engine = tuple[dict[str, Path], Mapping[str, Source]]


def own_engine(space: Workspace, part: Stage | None = None) -> Engine:
    """Return the learner's files and modules that replace the package's.

    The solved exercises of the stage `part` count too, even if others of it are still open.  Raises
    CourseError if one of its files is not readable.
    """
    solved = solved_stages(space)
    if part is None or part in solved or part.number in skipped(space):
        return combine_files(own_files(space, solved))
    still_open = {hole.id for hole in part.holes if not space.solved(hole)}
    if len(still_open) == len(part.holes):
        return combine_files(own_files(space, solved))
    chosen = sorted([*solved, part], key=lambda stage: stage.key)
    files, shared = combine_files(own_files(space, chosen))
    mine = space.files(part)
    answers = LearnerFiles(part, mine, {path: shared[path] for path in mine if path in shared})
    return files, {**shared, **answers.without(still_open)}
