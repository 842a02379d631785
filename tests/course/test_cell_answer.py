"""Answers in a notebook's cells: what a cell may hold, and that it reaches the learner's file."""

from __future__ import annotations

import pytest

from minigrad_course.content.source import Module, module
from minigrad_course.content.stages import CourseError, find_stage, stages
from minigrad_course.learner.cell_answer import (
    cell_text,
    functions_in_cell,
    task_page,
    write_cell,
)
from minigrad_course.learner.package_answer import write_answer
from minigrad_course.learner.workspace import make_workspace
from tests.support.slow import slow_but_one_in

HOLES = [(stage, hole) for stage in stages() for hole in stage.holes]


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    return make_workspace(tmp_path_factory.mktemp("cells") / "engine")


def texts(space, stage):
    return {path: file.read_text(encoding="utf-8") for path, file in space.files(stage).items()}


@pytest.mark.parametrize(("stage", "hole"), slow_but_one_in(3, HOLES),
                         ids=[hole.id for _, hole in HOLES])
def test_a_cell_goes_into_the_file_and_comes_back(space, stage, hole):
    before = texts(space, stage)
    cell = cell_text(space, stage, hole)
    assert cell == cell_text(None, stage, hole)
    write_cell(space, stage, hole, cell)
    assert texts(space, stage) == before
    write_answer(space, stage, hole)
    answered = texts(space, stage)
    right = cell_text(space, stage, hole)
    assert right != cell
    write_cell(space, stage, hole, cell)
    assert texts(space, stage) == before
    write_cell(space, stage, hole, right)
    assert texts(space, stage) == answered
    for symbol, text in functions_in_cell(hole, right).items():
        path, _, name = symbol.partition(":")
        theirs = module(stage.package, path)
        assert text == theirs.cut(theirs.find(name))


SEVERAL = next((stage, hole) for stage, hole in HOLES if len(hole.symbols) > 1)
ONE = find_stage("00"), find_stage("00").holes[0]


@pytest.mark.parametrize(("where", "cell", "told"), [
    (ONE, "def slope(f, x):\n    return 1\nimport math", "must define only slope"),
    (ONE, "def slop(f, x):\n    return 1", "must define only slope"),
    (ONE, "x = 1", "must define only slope"),
    (ONE, "def slope(f, x)\n    return 1", "is not valid Python: expected ':', in `def slope(f,"),
    (ONE, "", "must define only slope"),
    (ONE, "# tiny.py: other\ndef other(): pass", "needs each of these comments"),
    (SEVERAL, "def add(a, b):\n    return a", "needs each of these comments"),
])
def test_a_cell_that_is_not_an_answer_changes_no_file(space, where, cell, told):
    before = texts(space, where[0])
    with pytest.raises(CourseError) as error:
        write_cell(space, *where, cell)
    assert told in str(error.value) and where[1].id in str(error.value)
    assert texts(space, where[0]) == before


def test_a_function_needs_no_comment_if_it_is_the_only_one(space):
    stage, hole = ONE
    write_cell(space, stage, hole, "def slope(f, x, eps=1):\n    return f'''\n  {x}'''\n")
    (path,) = stage.modules
    file = space.files(stage)[path]
    source = Module.read(file, path)
    assert source.cut(source.find("slope")) == "def slope(f, x, eps=1):\n    return f'''\n  {x}'''"
    space.reset(stage)


@pytest.mark.parametrize(("stage", "hole"), HOLES[::7], ids=[hole.id for _, hole in HOLES[::7]])
def test_the_page_of_a_task_has_its_title_and_its_task(stage, hole):
    page = task_page(stage, hole)
    assert page.startswith(f"**{hole.id} {stage.words['hole'][hole.id]['title']}**\n")
    assert stage.words["hole"][hole.id]["task"].strip() in page
