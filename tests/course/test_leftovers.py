"""Code that was left at the top level of a file costs the exercises that need it, and no others."""

from __future__ import annotations

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.stages import find_stage
from minigrad_course.grading.grade import grade
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.sandbox import Sandbox
from minigrad_course.grading.tolerant import error_on_import, tolerant
from tests.support.slow import slow_but

STAGE = find_stage("07")
(MODULE,) = STAGE.modules
SOLUTION = STAGE.solution(MODULE).read_text(encoding="utf-8")

#: Code at the top and at the end of a file, and the error that the report mentions.
LEFTOVERS = {
    "a library that isn't there": ("", "import scipy_of_nowhere\n", "ModuleNotFoundError"),
    "an import above __future__": ("import numpy\n", "", "SyntaxError"),
    "a question": ("", "x = input('x? ')\nprint(x)\n", "EOFError"),
    "a trial that fails": ("", "assert is_grad_enabled() == 3\n", "AssertionError"),
    "a notebook's commands": ("%matplotlib inline\n!pip install numpy\n", "", "SyntaxError"),
    "fences": ("```python\n", "```\nHope this helps!\n", "SyntaxError"),
    "an end": ("", "import sys\nsys.exit('done')\n", "SystemExit"),
}


def graded(tmp_path, text):
    (tmp_path / "handin.py").write_text(text, encoding="utf-8")
    return grade(STAGE, take_in(tmp_path / "handin.py", STAGE), Sandbox("limits"))


@pytest.mark.parametrize("leftover", slow_but(0, LEFTOVERS))
def test_leftover_code_costs_no_points(leftover, tmp_path):
    before, after, error = LEFTOVERS[leftover]
    result = graded(tmp_path, before + SOLUTION + "\n" + after)
    assert result.points == result.max_points
    assert any(f"code outside all exercises raised {error}" in note for note in result.notes)


@pytest.mark.slow
def test_the_exercise_that_needs_it_pays(tmp_path):
    text = SOLUTION.replace("        _state.inference_enabled.set(self.mode)\n",
                            "        scipy_of_nowhere.set(self.mode)\n")
    assert text != SOLUTION
    result = graded(tmp_path, text + "\nimport scipy_of_nowhere\n")
    assert 0 < result.points < result.max_points
    assert any("ModuleNotFoundError" in note for note in result.notes)
    assert any("scipy_of_nowhere" in message for hole in result.holes
               for _, message in hole.failing)


def test_only_what_was_added_is_changed():
    shipped = STAGE.exercise(MODULE).read_text(encoding="utf-8")
    assert "try:\n    import" not in tolerant(STAGE, {MODULE: shipped})[MODULE]
    changed = tolerant(STAGE, {MODULE: f"import a.b\n{shipped}\nx: int = f()\n"})[MODULE]
    assert changed.count("except BaseException:\n    pass") == 2
    compile(changed, "x", "exec")
    assert tolerant(STAGE, {MODULE: "def ("}) == {MODULE: "def ("}


@pytest.mark.parametrize("text", [
    "def f(:\n    pass\n", "if x\n    y = 1\n", "    x = 1\n", "class A\n    b = 1\n",
    "\n".join(f"no Python {i}" for i in range(30))])
def test_what_is_more_than_a_stray_line_stays(text):
    with pytest.raises(SyntaxError):
        compile(tolerant(STAGE, {MODULE: text})[MODULE], "x", "exec")


@pytest.mark.parametrize("note", ["the tests were stopped: the process ended with status 3",
                                  "the tests were stopped: it did not end within 8 seconds", "x"])
def test_an_end_by_force_is_no_leftover(note):
    assert error_on_import((note,)) == ""
