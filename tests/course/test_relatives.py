"""No function that a graded process can import does the work of an exercise."""

from __future__ import annotations

import dataclasses
import sys

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.source import Module
from minigrad_course.content.stages import find_stage, stages
from minigrad_course.dev import relatives, relatives_child
from minigrad_course.dev.relatives import Relatives, delegating, findings, importable
from minigrad_course.grading.bundle import TWINS
from tests.support.slow import one_in

STAGE = find_stage("07")
FIRST = dataclasses.replace(STAGE, holes=STAGE.holes[:1])
#: The modules besides Python's own that the process of the probes can import.
LIBRARIES = {"numpy", "pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments",
             "exceptiongroup", "tomli", "typing_extensions"}
OURS = {"minigrad", "probes", "probing"}
#: The names that this check gives to the grader's program, to its own, and to the comparison.
CHECK = {"answers", "child", "grading_child"}


@pytest.mark.slow
@pytest.mark.parametrize("stage", one_in(12, [each for each in stages() if each.holes]),
                         ids=lambda stage: stage.number)
def test_what_the_probes_can_import_is_listed(stage):
    found = {each for each in importable(stage) if each not in sys.stdlib_module_names}
    beside = {"minigrad_course"} if stage.beside else set()  # the code of the second copy
    assert OURS <= found <= LIBRARIES | OURS | CHECK | beside


def test_a_relative_is_found():
    module = "minigrad.autograd.forward_ad.pushforward"
    found = {each.symbol.partition(":")[2]: each for each in relatives.relatives(FIRST, [module])}
    assert found["is_grad_enabled"].found == (f"{module}.wants_graph",)
    assert found["is_grad_enabled"].kept >= 1 and not found["_Switch.__enter__"].found
    assert not [*findings([*found.values()])]


def test_no_other_kernel_answers_a_convolution():
    """`kernels_strided` did: it has the input's gradient for strides."""
    folder = STAGE.package / "backend"
    names = [f"minigrad.backend.{each.stem}" for each in sorted(folder.glob("[a-z]*.py"))
             if each.stem != "cupy"]
    found = relatives.relatives(find_stage("04c"), names)
    assert {each.hole for each in found} == {hole.id for hole in find_stage("04c").holes}
    assert not [*findings(found)]


@pytest.mark.slow
def test_a_method_that_sums_to_a_size_hands_on_to_the_exercise():
    """`sum_to_size` did the engine's work a second time, so it answered 04a.2."""
    stage = find_stage("04a")
    one = dataclasses.replace(stage, holes=tuple(
        hole for hole in stage.holes if hole.id == "04a.2"))
    (found,) = relatives.relatives(one, ["minigrad"])
    assert found.symbol == "engine/validate.py:sum_to" and found.kept and not found.found


def test_the_twins_of_exercises_are_there_to_be_left_out():
    for path, text in TWINS.items():
        there = Module.from_text(path, (STAGE.package / path).read_text(encoding="utf-8"))
        instead = {name for name, _ in Module.from_text(path, text).functions()}
        assert instead < {name for name, _ in there.functions()}


def test_an_exercise_is_answered_if_all_of_its_functions_are():
    both = [Relatives("07.1", "m:f", 3, ("math.sin",)), Relatives("07.1", "m:g", 2, ("os.x", "y"))]
    other = Relatives("07.2", "m:h", 2, ())
    assert [*findings([*both, other])] == [
        "07.1: m:f is answered by math.sin; m:g is answered by os.x, y"]
    assert not [*findings([both[0], Relatives("07.1", "m:g", 2, ()), other])]


def test_a_function_hands_on_what_it_is_given():
    text = ("def f(a, /, b, *c, d=1, **e):\n    return a\n\n\ndef g(x):\n    yield x\n\n\n"
            "def h(x):\n    def inner():\n        yield x\n    return inner\n")
    lines = []
    for name in "fgh":
        function = Module.from_text("m.py", text).function(name)
        lines.append((relatives._forwarded(function.args), relatives._yields(function)))
    assert lines == [("a, b, *c, d=d, **e", False), ("x", True), ("x", False)]
    made = delegating(STAGE, STAGE.holes[:2])[STAGE.modules[0]]
    assert made.count("__import__('relatives')") == len(STAGE.holes[0].symbols) + 1


@pytest.mark.slow
@pytest.mark.parametrize("stage", one_in(12, [each for each in stages() if each.holes]),
                         ids=lambda stage: stage.number)
def test_no_body_without_work_answers_an_exercise(stage):
    """Try constants, arguments and errors as well; `json` adds few functions to them."""
    found = relatives.relatives(stage, ["json"])
    assert {each.hole for each in found} == {hole.id for hole in stage.holes}
    assert not [*findings(found)]


def test_bodies_without_work_are_tried():
    named = dict(relatives_child.trivial())
    assert named["return None"](1, x=2) is None and named["return []"]() == []
    assert named["return argument 1"]("a", "b") == named["return argument -1"]("a", "b") == "b"
    with pytest.raises(KeyError):
        named["raise KeyError"]()
