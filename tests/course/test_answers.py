"""Answers that were written from the tasks alone, in other ways than the package's, get all points.

Tests and probes are to look at what code does; one that asks for the package's own words or steps
fails here.  The probes of half of them run each day, and all of their tests where
MINIGRAD_ALL_MUTANTS=1 asks for it.
"""

from __future__ import annotations

import pytest

from tests.support.slow import one_in

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content import stages as course
from minigrad_course.running.trial import try_files
from tests.course.test_probes import ALL, graded
from tests.support.answers import answered, answers

CASES = [pytest.param(stage, name, id=name) for stage in course.stages()
         for name in answers(stage)]


@pytest.mark.parametrize(("stage", "name"), [CASES[0], *one_in(2, CASES[1:])])
def test_the_probes_accept_it(stage, name):
    result = graded(stage, answered(stage, name))
    assert [(hole.hole, hole.reason) for hole in result.holes if hole.reason] == []


@pytest.mark.slow
@pytest.mark.skipif(not ALL, reason="MINIGRAD_ALL_MUTANTS=1 runs it")
@pytest.mark.parametrize(("stage", "name"), CASES)
def test_the_tests_accept_it(stage, name, tmp_path):
    files = {}
    for path, text in answered(stage, name).items():
        files[path] = tmp_path / path
        files[path].parent.mkdir(parents=True, exist_ok=True)
        files[path].write_text(text, encoding="utf-8")
    trial = try_files(stage, files, symptoms=False)
    assert not trial.problem
    assert [(each.test, each.message) for each in trial.outcomes if not each.passed] == []
