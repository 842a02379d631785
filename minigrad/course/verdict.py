"""What is said of a hole after it was tried: one record, whatever shows it."""

from __future__ import annotations

from dataclasses import dataclass

from .stages import Hole, Stage
from .trial import Outcome, Trial

__all__ = ["Verdict", "verdicts"]


@dataclass(frozen=True)
class Verdict:
    """How a hole stands."""

    hole: Hole
    title: str
    state: str  # "solved", "untouched" or "wrong"
    points: int  # that were earned
    diagnosis: str | None = None  # the sentence that names the mistake, where behaviour tells it
    failing: tuple[Outcome, ...] = ()
    tests: int = 0

    @property
    def first(self) -> Outcome | None:
        """The first test that failed."""
        return self.failing[0] if self.failing else None


def verdicts(stage: Stage, trial: Trial, holes: list[Hole]) -> list[Verdict]:
    """Return what is to be said of each hole."""
    return [_verdict(stage, trial, hole) for hole in holes]


def _verdict(stage: Stage, trial: Trial, hole: Hole) -> Verdict:
    outcomes = trial.of(hole)
    title = stage.words["hole"][hole.id]["title"]
    if trial.solved(hole):
        return Verdict(hole, title, "solved", hole.points, tests=len(outcomes))
    failing = tuple(each for each in outcomes if not each.passed)
    mark = f"NotImplementedError: {hole.id} "
    if failing and all(mark in each.message for each in failing):
        return Verdict(hole, title, "untouched", 0, failing=failing, tests=len(outcomes))
    name = trial.diagnosis(stage, hole)
    sentence = None if name is None else stage.words["symptoms"][name]
    return Verdict(hole, title, "wrong", 0, sentence, failing, len(outcomes))
