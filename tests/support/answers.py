"""Answers to exercises that were written from their tasks alone, not from the package's source.

`tests/answers/NN_x.py` holds functions called as the exercise's are; everything else in it (imports
and functions of its own) goes into the module beside the function that stands next to it.
"""

from __future__ import annotations

from pathlib import Path

from minigrad_course.content.source import Module
from minigrad_course.content.stages import Stage
from minigrad_course.dev.strategies import put_in

FOLDER = Path(__file__).parents[1] / "answers"


def answers(stage: Stage) -> list[str]:
    """Return the names of the answers to a stage."""
    return sorted(path.stem for path in FOLDER.glob(f"{stage.number}_*.py"))


def answered(stage: Stage, name: str) -> dict[str, str]:
    """Return the exercise's files, by path in the package, with an answer written into them."""
    given = Module.read(FOLDER / f"{name}.py", name)
    texts = {path: stage.exercise(path).read_text(encoding="utf-8") for path in stage.modules}
    return put_in(stage, given, texts, stage.holes)
