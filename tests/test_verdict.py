"""What a learner is told of a hole: solved, untouched, waiting for another hole, or wrong."""

from __future__ import annotations

import pytest

from minigrad.course.stages import stages
from minigrad.course.trial import Outcome, Trial
from minigrad.course.verdict import unwritten, verdicts

STAGE = next(each for each in stages() if each.number == "01")
HOLE, OTHER = STAGE.holes[5], STAGE.holes[0]
OWN, OTHERS = (f"NotImplementedError: {each.id} Some title is yours to write"
               for each in (HOLE, OTHER))
SYMPTOM = STAGE.symptoms_of(HOLE)[0]


def told(*messages: str | None, symptoms: tuple[str, ...] = (SYMPTOM,)):
    outcomes = tuple(Outcome(f"t{i}", (HOLE.id,), each is None, each or "")
                     for i, each in enumerate(messages))
    (verdict,) = verdicts(STAGE, Trial(outcomes, dict.fromkeys(symptoms, True)), [HOLE])
    return verdict


@pytest.mark.parametrize(("messages", "state"), [
    ([None, None], "solved"), ([None, OWN], "untouched"), ([OWN, OTHERS], "untouched"),
    ([OTHERS, None], "waiting"), ([OTHERS, "assert 1 == 2"], "wrong"),
    ([OWN, "assert 1 == 2"], "wrong"), ([], "wrong"),
])
def test_the_state(messages, state):
    verdict = told(*messages)
    assert verdict.state == state
    assert verdict.points == (HOLE.points if state == "solved" else 0)


def test_who_waits_is_told_for_whom_and_of_no_mistake():
    verdict = told(OTHERS, OTHERS)
    assert (verdict.waits_for, verdict.diagnosis) == (OTHER.id, None)


def test_the_first_failure_shown_is_the_hole_s_own():
    verdict = told(OTHERS, "assert 1 == 2")
    assert verdict.first.message == "assert 1 == 2"
    assert verdict.diagnosis == STAGE.words["symptoms"][SYMPTOM]


@pytest.mark.parametrize(("message", "number"), [
    (OWN, HOLE.id), ("a NotImplementedError: 03b.12 x, y is yours to write, in a chain", "03b.12"),
    ("assert 1.5 == 2", None), ("", None),
])
def test_unwritten(message, number):
    assert unwritten(message) == number
