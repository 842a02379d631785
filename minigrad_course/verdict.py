"""What is said of a hole after it was tried: one record, whatever shows it."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from .stages import Hole, Stage
from .trial import Outcome, Trial

__all__ = ["Verdict", "told", "unwritten", "verdicts"]

_SLIP = re.compile(r"; ((?:every element|it is|the elements) [^;\n]+)")
_RAISED = re.compile(r"(?!AssertionError|Failed)\w+(?:Error|Exception|Iteration): .{1,200}")
_UNWRITTEN = re.compile(r"\b(\w+\.\d+) .* is yours to write")


@dataclass(frozen=True)
class Verdict:
    """How a hole stands."""

    hole: Hole
    title: str
    state: str  # "solved", "untouched", "waiting" (for `waits_for`) or "wrong"
    points: int  # that were earned
    diagnosis: str | None = None  # what is wrong, in a sentence
    failing: tuple[Outcome, ...] = ()
    tests: int = 0
    waits_for: str | None = None  # the hole, not yet written, that its tests came to

    @property
    def first(self) -> Outcome | None:
        """The first test that failed."""
        return self.failing[0] if self.failing else None


def unwritten(message: str) -> str | None:
    """Return the number of the hole that was not written yet and that a test's failure tells of.

    >>> unwritten("NotImplementedError: 03.2 Dependencies is yours to write")
    '03.2'
    """
    found = _UNWRITTEN.search(message)
    return None if found is None else found[1]


def told(stage: Stage, hole: Hole, shown: Container[str], failing: Sequence[tuple[str, str]]
         ) -> str | None:
    """Return the sentence that says what is wrong with a hole.

    It names the mistake if the hole knows a symptom that is `shown`.  If not, it is what the first
    test asks for that failed by itself (`failing`: ids and messages), with what `slip` of
    tests/_oracle.py found in the numbers or what was raised: less, but never wrong.
    """
    for name in stage.symptoms_of(hole):
        if name in shown:
            return str(stage.words["symptoms"][name])
    for test, message in failing:
        wanted = None if unwritten(message) else stage.wanted(test)
        if wanted is not None:
            slip, raised = _SLIP.search(message), _RAISED.match(message)
            here = slip[1] if slip else f"it raises {raised[0].rstrip('.')}" if raised else ""
            return f"Not so yet: {wanted}" + (f" Here {here}." if here else "")
    return None


def verdicts(stage: Stage, trial: Trial, holes: list[Hole]) -> list[Verdict]:
    """Return what is to be said of each hole."""
    return [_verdict(stage, trial, hole) for hole in holes]


def _verdict(stage: Stage, trial: Trial, hole: Hole) -> Verdict:
    outcomes = trial.of(hole)
    title = stage.words["hole"][hole.id]["title"]
    if trial.solved(hole):
        return Verdict(hole, title, "solved", hole.points, tests=len(outcomes))
    failing = tuple(each for each in outcomes if not each.passed)
    came_to = [unwritten(each.message) for each in failing]
    if failing and None not in came_to and hole.id in came_to:
        return Verdict(hole, title, "untouched", 0, failing=failing, tests=len(outcomes))
    if failing and None not in came_to:
        return Verdict(hole, title, "waiting", 0, failing=failing, tests=len(outcomes),
                       waits_for=came_to[0])
    # What failed by itself is shown first, before what came to a hole that is not written.
    failing = tuple(sorted(failing, key=lambda each: unwritten(each.message) is not None))
    shown = [name for name, is_shown in trial.symptoms.items() if is_shown]
    sentence = told(stage, hole, shown, [(each.test, each.message) for each in failing])
    return Verdict(hole, title, "wrong", 0, sentence, failing, len(outcomes))
