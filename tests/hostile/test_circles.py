"""Answers that each lean on the package's version of the other: together they do no work."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.source import Module, blank, body_span, module
from minigrad_course.content.stages import find_stage
from minigrad_course.grading import grade as grading
from minigrad_course.grading.intake import Submission
from minigrad_course.grading.sandbox import Limits, Sandbox
from minigrad_course.running.learner_files import LearnerFiles
from tests.support.attacks import MODULE, SOLUTION, STAGE
from tests.support.slow import one_in

#: Bodies by symbol: 07.1 by `set_grad_enabled`, and 07.4 by `no_grad`.
LEANING = {
    "is_grad_enabled": ["before = set_grad_enabled(True).previous", "set_grad_enabled(before)",
                        "return before"],
    "_Switch.__enter__": ["self.held = set_grad_enabled(self.recording)"],
    "_Switch.__exit__": ["set_grad_enabled(self.held.previous)"],
    "set_grad_enabled.__init__": [
        "_require_bool(mode)", "self.previous, self.mode = is_grad_enabled(), mode",
        "(enable_grad if mode else no_grad)().__enter__()"],
    "set_grad_enabled.__call__": ["(enable_grad if self.previous else no_grad)().__enter__()",
                                  "return super().__call__(decorated)"],
    "set_grad_enabled.__enter__": ["(enable_grad if self.mode else no_grad)().__enter__()"],
    "set_grad_enabled.__exit__": ["(enable_grad if self.previous else no_grad)().__enter__()"],
}
OPEN = {"_Mode._wrap_function": ['raise NotImplementedError("07.2 X is yours to write")']}


def with_bodies(bodies, text=SOLUTION, path=MODULE):
    """Return a module's text with other bodies of some functions."""
    for symbol, body in bodies.items():
        source = Module.from_text(path, text)
        function = source.function(symbol)
        first, last = body_span(source, function)
        lines = source.lines
        lines[first - 1 : last] = [" " * (function.col_offset + 4) + each for each in body]
        text = "\n".join(lines) + "\n"
    return text


def earned(texts, stage=STAGE):
    """Return the points of the exercises, and their grades."""
    result = grading.grade(stage, Submission("x", texts), Sandbox("limits"),
                           limits=Limits(seconds=60))
    return {hole.hole: hole.points for hole in result.holes}, {
        hole.hole: hole for hole in result.holes}


@pytest.mark.parametrize("more", one_in(2, [{}, OPEN]))
def test_two_that_lean_on_each_other_earn_nothing(more):
    points, holes = earned({MODULE: with_bodies(LEANING | more)})
    assert (points["07.1"], points["07.4"]) == (0, 0)
    assert "Exercises that wait for each other earn no points" in holes["07.1"].diagnosis
    assert "package's version of 07.4" in holes["07.1"].diagnosis
    assert points["07.2"] == (0 if more else 2) and points["07.3"] == 3
    assert "07.1" in holes["07.3"].note


@pytest.mark.slow
def test_one_that_leans_on_a_wrong_one_earns_its_points():
    """Whoever uses another exercise of the stage, as one may, waits for it as before."""
    leaning = {symbol: body for symbol, body in LEANING.items() if "set_grad" not in symbol}
    points, holes = earned({MODULE: with_bodies(
        {**leaning, "set_grad_enabled.__init__": ["self.mode = 1"]})})
    assert (points["07.1"], points["07.4"]) == (2, 0)
    assert "07.4" in holes["07.1"].note


CONVOLUTION = find_stage("04c")
WINDOWS, CONV = CONVOLUTION.modules
#: The first calls the second for each step, and the second the first for each weight; or the third,
#: which calls the first for each input.  Each of them is linear in both of its arrays.
FORWARD_BY_WEIGHT = {"conv_forward": [
    "counts = conv_output_sizes(x.shape[2:], weight.shape[2:], stride, padding, dilation)",
    "out = np.zeros((x.shape[0], weight.shape[0], *counts), xp.result_type(x, weight))",
    "for n, *step in np.ndindex(x.shape[0], *counts):",
    "    unit = np.zeros_like(out); unit[(n, slice(None), *step)] = 1.0",
    "    seen = conv_grad_weight(xp, unit, x, weight.shape, stride, padding, dilation, groups)",
    "    out[(n, slice(None), *step)] = (seen * weight).reshape(len(weight), -1).sum(1)",
    "if bias is not None: out += bias.reshape(-1, *(1,) * len(counts))", "return out"]}
WEIGHT_BY = """made = np.zeros(tuple(weight_sizes), xp.result_type(g, x))
for place in np.ndindex(*weight_sizes):
    unit = np.zeros_like(made); unit[place] = 1.0
    made[place] = {}
return made"""
WEIGHT_BY_FORWARD = {"conv_grad_weight": WEIGHT_BY.format(
    "(conv_forward(xp, x, unit, None, stride, padding, dilation, groups)"
    "[tuple(map(slice, g.shape))] * g).sum()").splitlines()}
WEIGHT_BY_INPUT = {"conv_grad_weight": WEIGHT_BY.format(
    "(conv_grad_input(xp, g, unit, x.shape, stride, padding, dilation, groups) * x).sum()"
    ).splitlines()}
INPUT_BY_FORWARD = {"conv_grad_input": [
    "made = np.zeros(tuple(input_sizes), xp.result_type(g, weight))",
    "for place in np.ndindex(*input_sizes[1:]):",
    "    unit = np.zeros((1, *input_sizes[1:]), made.dtype); unit[(0, *place)] = 1.0",
    "    seen = conv_forward(xp, unit, weight, None, stride, padding, dilation, groups)",
    "    seen = seen[(slice(None), *map(slice, g.shape[1:]))]",
    "    made[(slice(None), *place)] = (seen * g).sum(tuple(range(1, g.ndim)))",
    "return made"]}
#: The exercises that lean on each other, and what else is open.  In the second, 04c.5 and
#: 04c.6 are a circle even with the package's answer to 04c.7, because that one calls 04c.5 too. The
#: learner's 04c.7 only uses 04c.5, which is allowed.
CONVOLVED = [("56", FORWARD_BY_WEIGHT | WEIGHT_BY_FORWARD, "4"),
             ("56", FORWARD_BY_WEIGHT | WEIGHT_BY_INPUT | INPUT_BY_FORWARD, "1")]


def convolution(bodies, is_open=""):
    """Return the texts of 04c with other bodies, and with an open exercise."""
    texts = {path: module(CONVOLUTION.package, path).text for path in CONVOLUTION.modules}
    if is_open:
        texts[WINDOWS] = blank(CONVOLUTION, WINDOWS, [
            each for each in CONVOLUTION.holes if each.id == f"04c.{is_open}"])
    return texts | {CONV: with_bodies(bodies, texts[CONV], CONV) + "\nimport numpy as np\n"}


@pytest.mark.slow
@pytest.mark.parametrize("body", one_in(4, [FORWARD_BY_WEIGHT, WEIGHT_BY_FORWARD, WEIGHT_BY_INPUT,
                                            INPUT_BY_FORWARD]), ids=lambda body: next(iter(body)))
def test_each_convolution_is_right_with_the_package_s_other_ones(body):
    points, _ = earned(convolution(body), CONVOLUTION)
    assert sum(points.values()) == 10


@pytest.mark.slow
@pytest.mark.parametrize(("leaning", "bodies", "is_open"), one_in(6, CONVOLVED))
def test_convolutions_that_lean_on_each_other_earn_nothing(leaning, bodies, is_open):
    points, holes = earned(convolution(bodies, is_open), CONVOLUTION)
    assert not any(points[f"04c.{each}"] for each in leaning), holes
    assert points["04c.2"] == 1 and points["04c.3"] == points["04c.7"] == 2


#: Exercises by what they need from the package; what nothing satisfies is wrong or open.
CIRCLES = {
    "a pair": {"1": {"4"}, "4": {"1"}},
    "three": {"1": {"2"}, "2": {"3"}, "3": {"1"}},
    "a pair that needs an open one too": {"1": {"4", "5"}, "4": {"1", "5"}},
    "a pair and one that leans on it": {"1": {"4"}, "4": {"1"}, "2": {"1"}},
    "two pairs": {"1": {"2"}, "2": {"1"}, "3": {"4"}, "4": {"3"}},
    "all": {a: set("12345") - {a} for a in "12345"},
}


class _Learners:
    """Files of which only the exercises matter that the package provides."""

    holes = STAGE.holes

    def __init__(self, is_open):
        self.is_open = is_open

    def open(self):
        return set(self.is_open)

    def without(self, holes):
        return frozenset(holes)


def judged(needs, is_open, ends=(), ready=True):
    """Return which exercises earn points, if each needs the package's version of others."""
    def passes(hole, without):
        return hole not in is_open and needs.get(hole, set()) <= without

    def run(composed, numbers):
        given = {each[3:] for each in composed}
        grades = tuple(grading.HoleGrade(each, "", 0, 1, "" if passes(each[3:], given) else "no")
                       for each in numbers)
        return grading._Run(grades, (), True, frozenset(
            each for each in numbers if each[3:] in ends and not passes(each[3:], given)))

    every = [hole.id for hole in STAGE.holes]
    one = grading._Submission(STAGE, Submission("x", {MODULE: ""}), None, 0)
    object.__setattr__(one, "run", run)
    first = run(frozenset(), every)
    first = grading._Run(first.holes, (), ready, first.ending)
    waits, circle = one.waits(_Learners({f"07.{each}" for each in is_open}), first)
    return {each[3:] for each in waits}, {each[3:] for each in circle}


@pytest.mark.parametrize("circle", CIRCLES)
def test_no_circle_earns_points(circle, monkeypatch):
    needs = CIRCLES[circle]
    for is_open, ends in itertools.product(("", "5"), ("", "1", "123", "12345")):
        for ready in (True, False):
            found, _ = judged(needs, is_open, ends, ready)
            # "2" leans on a wrong answer as anybody may, but then "1" must not be right as well
            assert found <= ({"2"} if "leans" in circle else set()), (is_open, ends, ready)


def test_what_waits_for_an_open_exercise_earns_points():
    assert judged({"1": {"5"}, "2": {"1", "5"}}, "5")[0] == {"1"}
    assert judged({"1": {"5"}, "2": {"5"}}, "5") == ({"1", "2"}, set())
    assert judged({"1": {"4"}, "4": {"5"}}, "5")[0] == {"4"}
    assert judged({"1": {"4"}}, "4") == ({"1"}, set())


def test_learner_files_have_what_the_test_s_files_have():
    assert {"holes", "open", "without"} <= set(dir(LearnerFiles))
    assert find_stage("07").holes == _Learners.holes
