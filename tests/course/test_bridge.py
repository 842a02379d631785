"""What a learner who starts in the middle is told about earlier stages."""

from __future__ import annotations

import importlib

import pytest

pytest.importorskip("rich", reason="the course's commands need Rich")

from minigrad_course.content.stages import find_stage, stages
from minigrad_course.learner.bridge import bridge_lines, used_from_earlier

TAUGHT = {path: stage for stage in reversed(stages()) for path in stage.modules}


@pytest.mark.parametrize("stage", stages(), ids=lambda stage: stage.number)
def test_each_name_belongs_to_the_first_stage_that_teaches_its_module(stage):
    for used in used_from_earlier(stage):
        assert used.stage == TAUGHT[used.path] and used.stage.key < stage.key
        module = importlib.import_module("minigrad." + used.path.removesuffix(".py").replace(
            "/", ".").removesuffix(".__init__"))
        documented = getattr(module, used.name) if used.name else module
        assert (documented.__doc__ or "").startswith(used.summary) and used.summary


def test_the_engine_uses_the_graph():
    found = {(each.stage.number, each.name) for each in used_from_earlier(find_stage("03"))}
    assert ("02", "Node") in found
    first, *rest = bridge_lines(find_stage("03"))
    assert first == "Stage 03 uses these parts of earlier stages:"
    assert rest[0].startswith("  02 ") and any("    Node: " in line for line in rest)


def test_the_first_stage_uses_nothing():
    assert not list(bridge_lines(find_stage("00")))
