"""Strategies: right ones pass tests and probes, wrong ones fail both and get their sentence.

`minigrad dev verify` replays them all.  Here one file is tried, another one each day.
"""

from __future__ import annotations

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content import stages as course
from minigrad_course.dev.strategies import strategies, with_strategy
from minigrad_course.dev.verify import verify_strategies
from tests.course.test_probes import ALL, graded
from tests.support.slow import DAY

KNOWN = [(stage, hole) for stage in course.stages() for hole in stage.holes
         if strategies(stage, hole)]
CASES = [pytest.param(stage, hole, id=hole.id, marks=pytest.mark.skipif(
    not ALL and number != DAY % len(KNOWN), reason="MINIGRAD_ALL_MUTANTS=1 tries it"))
    for number, (stage, hole) in enumerate(KNOWN)]


def test_symptoms_of_strategies_have_sentences():
    unknown = [(hole.id, each.symptom) for stage, hole in KNOWN for each in strategies(stage, hole)
               if each.symptom is not None and each.symptom not in stage.symptoms_of(hole)]
    assert unknown == []


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "hole"), CASES)
def test_tests_tell_them_apart(stage, hole, tmp_path):
    assert list(verify_strategies(stage, hole, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "hole"), CASES)
def test_probes_accept_the_right_ones(stage, hole):
    for each in strategies(stage, hole):
        if each.is_right:
            result = graded(stage, with_strategy(stage, hole, each))
            lost = {one.hole: one.reason for one in result.holes if one.reason}
            assert hole.id not in lost, f"{each.name}: {lost[hole.id]}"


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "hole"), CASES)
def test_probes_refuse_the_wrong_ones(stage, hole):
    kept = []
    for each in strategies(stage, hole):
        if not each.is_right:
            result = graded(stage, with_strategy(stage, hole, each))
            kept += [each.name for one in result.holes if one.hole == hole.id and not one.reason]
    assert kept == [], f"{hole.id} keeps its points with {kept}"
