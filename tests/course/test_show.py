"""`minigrad show` prints the code that runs for an operation."""

from __future__ import annotations

import inspect

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

import minigrad
from minigrad import _state
from minigrad_course.app import app
from minigrad_course.content.lesson_blocks import parse
from minigrad_course.content.stages import find_stage


def shown(*arguments):
    return CliRunner().invoke(app, ["show", *arguments])


@pytest.mark.skipif(not _state.codegen, reason="codegen/ is switched off")
def test_show_prints_declaration_function_and_backward():
    told = shown("tanh")
    assert told.exit_code == 0
    assert "class Tanh(" in told.stdout
    assert inspect.getsource(minigrad.tanh) in told.stdout
    for part in ("# Prepare", "# Forward", "# Record", "# Wrap",
                 "def step_on_arrays(", "def step_on_tensors("):
        assert part in told.stdout


@pytest.mark.skipif(not _state.codegen, reason="codegen/ is switched off")
def test_the_lesson_on_recording_quotes_the_function_of_mul():
    stage = find_stage("04e")
    (quoted,) = (block.text for block in parse(stage.text(), stage.key)
                 if block.text.startswith("def mul(self, other):"))
    lines = iter(shown("mul").stdout.splitlines())
    missing = [line for line in quoted.splitlines() if line.strip() != "..." and line not in lines]
    assert not missing, "these lines are not in the generated function, in this order"


def test_show_says_what_runs_where_no_function_is_written():
    told = shown("cat")
    assert told.exit_code == 0 and "minigrad/op/apply.py" in told.stdout


def test_show_rejects_an_unknown_operation():
    told = shown("tanhh")
    assert told.exit_code == 2
    assert "no operation is named 'tanhh'" in told.output and "tanh" in told.output
