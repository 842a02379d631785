"""Answers that call what tests compare with: the process that decides doesn't have it."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.source import Module, body_span, module
from minigrad_course.content.stages import find_stage, stages
from minigrad_course.grading import asking
from minigrad_course.grading.asking import Runs
from minigrad_course.grading.bundle import make_bundle
from minigrad_course.grading.grade import grade
from minigrad_course.grading.intake import Submission
from minigrad_course.grading.sandbox import Limits, Sandbox
from tests.support.slow import one_in, slow_but

STAGE = find_stage("04c")
PATH = "backend/kernels_conv.py"
#: Where an answer may look for `convolved`; 04c.6 is linear in it.
FOUND = {
    "imported": """
        def convolved(*args):
            from test_04c_convolution import convolved
            return convolved(*args)
    """,
    "in a file of the bundle": """
        def convolved(*args):
            import pathlib, sys
            for folder in sys.path[:4]:
                for file in pathlib.Path(folder).rglob("*.py"):
                    text = file.read_text()
                    if "\\ndef convolved" in text:
                        space = {}
                        exec(text, space)
                        return space["convolved"](*args)
            raise RuntimeError("there is none")
    """,
    "in memory": """
        def convolved(*args):
            import gc
            for each in gc.get_objects():
                if getattr(each, "__name__", "") == "convolved" and args:
                    return each(*args) if each.__code__ is not convolved.__code__ else 1 / 0
            raise RuntimeError("there is none")
    """,
}
BODIES = {
    "conv_forward": [
        "conv_output_sizes(x.shape[2:], weight.shape[2:], stride, padding, dilation)",
        "made = convolved(x, weight, bias, stride, padding, dilation, groups)",
        "return made.astype(xp.result_type(x, weight))"],
    "conv_grad_weight": [
        "made = np.zeros(weight_sizes)",
        "for place in np.ndindex(*weight_sizes):",
        "    unit = np.zeros(weight_sizes); unit[place] = 1.0",
        "    out = convolved(x, unit, None, stride, padding, dilation, groups)",
        "    made[place] = (out[tuple(map(slice, g.shape))] * g).sum()",
        "return made.astype(xp.result_type(g, x))"],
}


def leaning(code):
    """Return the stage's modules in which two exercises call `convolved`."""
    texts = {path: module(STAGE.package, path).text for path in STAGE.modules}
    for name, body in BODIES.items():
        source = Module.from_text(PATH, texts[PATH])
        first, last = body_span(source, source.function(name))
        lines = source.lines
        lines[first - 1 : last] = [f"    {each}" for each in body]
        texts[PATH] = "\n".join(lines) + "\n"
    texts[PATH] += "\nimport numpy as np\n" + textwrap.dedent(code)
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("place", one_in(3, FOUND))
def test_references_of_tests_earn_nothing(place):
    holes = {hole.hole: hole for hole in grade(
        STAGE, Submission("x", leaning(FOUND[place])), Sandbox("limits"),
        limits=Limits(seconds=60)).holes}
    assert (holes["04c.5"].points, holes["04c.6"].points) == (0, 0)
    assert holes["04c.1"].points == 1 or place == "in memory"


@pytest.mark.slow
def test_with_the_tests_they_would(monkeypatch):
    """The answers are right as long as they find what they call."""
    monkeypatch.setattr(asking, "remove_tests", lambda bundle: None)
    stage = replace(STAGE, holes=STAGE.holes[4:6])
    assert grade(stage, Submission("x", leaning(FOUND["imported"])), Sandbox("limits"),
                 limits=Limits(seconds=60)).points == 3


@pytest.mark.parametrize("stage", slow_but(1, [each for each in stages() if each.holes]),
                         ids=lambda stage: stage.key)
def test_the_process_of_the_probes_has_no_tests(stage, tmp_path):
    bundle = make_bundle(stage, None, tmp_path)
    Runs(Sandbox("limits"), Limits()).probe(bundle, [])
    left = {each.name for each in bundle.rglob("*.py")}
    assert not left & {"_oracle.py", "symptoms.py", stage.tests.name} and "probes.py" in left
