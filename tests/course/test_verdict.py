"""What a learner is told of a hole: solved, untouched, waiting for another hole, or wrong."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from minigrad_course.content.stages import stages
from minigrad_course.running.trial import Outcome, Trial, try_files
from minigrad_course.verdicts.verdict import failing_line, mistake_sentence, unwritten, verdicts
from tests.support.slow import slow_but

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


def test_other_tests_are_named_with_their_cases():
    tests = ["t.py::test_a[1]", "t.py::test_a[2]", "t.py::test_b", "t.py::test_c[1]",
             "t.py::test_c[2]"]
    outcomes = tuple(Outcome(each, (HOLE.id,), False, "assert 1 == 2") for each in tests)
    (verdict,) = verdicts(STAGE, Trial(outcomes), [HOLE])
    assert verdict.first.test == "t.py::test_a[1]"
    assert verdict.also == ["test_a", "test_b", "test_c (2 cases)"]


def test_the_line_of_the_test_is_shown_and_not_that_of_its_helper():
    stage = next(each for each in stages() if each.number == "00")
    hole = stage.holes[0]
    wrong = stage.solution("tiny.py").read_text().replace(
        "(f(x + eps) - f(x - eps))", "(f(x + eps) - f(x))")
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "tiny.py")
        answer.write_text(wrong)
        trial = try_files(stage, {"tiny.py": answer}, [hole.id])
    (verdict,) = verdicts(stage, trial, [hole])
    assert failing_line(verdict.first).startswith("close(tiny.slope(lambda x: x * x, ")
    assert verdict.first.message.startswith("AssertionError: expected ")
    assert "\n" not in verdict.first.message


@pytest.fixture
def asked(monkeypatch):
    """Let two of the stage's tests have a sentence."""
    monkeypatch.setitem(STAGE.words, "tests", {
        "test_a": "It is so.", "test_b": "It is so of {case}."})


@pytest.mark.parametrize(("shown", "failing", "expected"), [
    ([SYMPTOM], [("x.py::test_a", "assert 1 == 2")], STAGE.words["symptoms"][SYMPTOM]),
    ([], [("x.py::test_a", "assert 1 == 2")], "Expected: It is so."),
    ([], [("x.py::test_a", "AssertionError: expected 6; it returns None\nassert None is not None")],
     "Expected: It is so. Here it returns None."),
    ([], [("x.py::test_c", ""), ("x.py::test_a", "")], "Expected: It is so."),
    ([], [("x.py::test_b[tan-[1, 2]]", "")], "Expected: It is so of tan-[1, 2]."),
    ([], [("x.py::test_a", OTHERS), ("x.py::test_b[1]", "")], "Expected: It is so of 1."),
    ([], [("x.py::test_a", OTHERS)], None),
    ([], [], None),
    ([], [("x.py::test_a", "gradient 0: 1 of 2 elements differ; the worst at (0,): got 2.0, "
           "expected 1.0; every element is 2 times what is expected\nassert 1")],
     "Expected: It is so. Here every element is 2 times what is expected."),
    ([], [("x.py::test_a", "NameError: name 'y' is not defined")],
     "Expected: It is so. Here it raises NameError: name 'y' is not defined."),
    ([SYMPTOM], [("x.py::test_a", "SystemExit: done")],
     "Your code ends the process before the tests are over. An exercise returns or raises instead "
     "of calling `exit`."),
    ([], [("x.py::test_a", "the process ended with status 137")],
     "The process was killed by signal 9, for example because it ran out of memory."),
    ([], [("x.py::test_a", "Failed: DID NOT RAISE ValueError: bad")], "Expected: It is so."),
    ([SYMPTOM], [("x.py::test_a", OTHERS),
                 ("x.py::test_b[1]", f"SyntaxError: {HOLE.id} cannot be read: no : (a.py, line 3)"),
                 ], "It is not valid Python: no : (a.py, line 3)"),
])
def test_the_sentence_for_each_kind_of_failure(asked, shown, failing, expected):
    assert mistake_sentence(STAGE, HOLE, shown, failing) == expected


@pytest.mark.parametrize(("message", "number"), [
    (OWN, HOLE.id), ("a NotImplementedError: 03b.12 x, y is yours to write, in a chain", "03b.12"),
    ("assert 1.5 == 2", None), ("", None),
])
def test_unwritten(message, number):
    assert unwritten(message) == number


# Found by trying: under each of these headlines stood a test about something else.
DISAGREED = [
    ("02.1", "02_1_keeps_list", ["test_edges_say_which_is_the_node_and_which_the_number",
     "test_a_list_changed_later_does_not_change_the_node"]),
    ("03.5", "03_5_frees_early", ["test_a_gradient_comes_to_the_leaf_once",
     "test_what_was_saved_is_freed"]),
    ("03.5", "03_5_stops", ["test_a_gradient_comes_to_the_leaf_once",
     "test_a_pass_on_tensors_leaves_a_graph"]),
    ("04a.8", "04a_8_axis_lost", ["test_gradients_along_a_dimension[softmax along axis 1]",
     "test_values_along_an_axis[softmax along axis 1]"]),
    ("04a.8", "04a_8_log_gradient_passes",
     ["test_gradients_along_a_dimension[softmax along axis 0]",
      "test_gradients_along_a_dimension[log_softmax along axis 0]"]),
    ("11.1", "11_1_touching_is_within", ["test_within_takes_away_what_ends_at_the_start",
     "test_one_after_the_other_is_not_within"]),
    ("13b.4", "13b_4_decays_twice", ["test_the_first_average_of_the_gradients[weight_decay 0.5]",
     "test_adam_does_not_shrink_the_parameter"]),
]


@pytest.mark.parametrize(("number", "symptom", "failing"), DISAGREED)
def test_the_test_that_the_sentence_is_about_is_shown(number, symptom, failing):
    stage = next(each for each in stages() if any(hole.id == number for hole in each.holes))
    hole = next(each for each in stage.holes if each.id == number)
    trial = Trial(tuple(Outcome(f"x.py::{test}", (number,), False, "assert 1 == 2")
                        for test in failing), {symptom: True})
    (verdict,) = verdicts(stage, trial, [hole])
    assert verdict.diagnosis == stage.words["symptoms"][symptom]
    wanted = failing[0] if symptom == "03_5_stops" else failing[1]
    assert verdict.first.test == f"x.py::{wanted}"
    assert {each.test for each in verdict.failing} == {f"x.py::{test}" for test in failing}


@pytest.mark.parametrize(("number", "symptoms", "failing"), [
    ("03c.3", ["03c_3_counts_too_late", "03c_3_zero_is_dropped"],
     ["test_a_gradient_of_zero_is_pushed_too",
      "test_a_task_counts_before_another_thread_sees_it"]),
    ("05.1", ["05_1_second_remove_raises", "05_1_mark_stays"],
     ["test_marks_go_with_the_hook", "test_remove_may_be_called_again"]),
    ("05.1", ["05_1_mark_is_not_true", "05_1_exit_keeps"],
     ["test_a_with_block_removes_at_its_end", "test_marks_come_with_the_hook"]),
])
def test_of_two_mistakes_the_test_of_the_one_that_is_explained_is_shown(number, symptoms, failing):
    stage = next(each for each in stages() if any(hole.id == number for hole in each.holes))
    hole = next(each for each in stage.holes if each.id == number)
    for order in (failing, failing[::-1]):
        trial = Trial(tuple(Outcome(f"x.py::{test}", (number,), False, "assert 1 == 2")
                            for test in order), dict.fromkeys(symptoms, True))
        (verdict,) = verdicts(stage, trial, [hole])
        assert verdict.diagnosis == stage.words["symptoms"][symptoms[0]]
        assert verdict.first.test == f"x.py::{failing[1]}"


def test_an_answer_with_two_mistakes_shows_the_test_of_the_first_sentence(tmp_path):
    stage = next(each for each in stages() if each.number == "05")
    hole, path = stage.holes[0], "graph/hooks.py"
    text = stage.solution(path).read_text(encoding="utf-8")
    right = "for hooks in self.hooks:\n            hooks.pop(self.id, None)"
    assert text.count(right) == 1
    file = tmp_path / "hooks.py"
    file.write_text(text.replace(right, "del self.hooks[0][self.id]"), encoding="utf-8")
    (verdict,) = verdicts(stage, try_files(stage, {path: file}, [hole.id]), [hole])
    assert verdict.diagnosis.startswith("Calling `remove()` a second time raises an error")
    assert verdict.first.test.endswith("::test_remove_may_be_called_again")
    assert "test_marks_go_with_the_hook" in verdict.also


def for_a_hole(stage):
    """The names of a stage's tests that are for one of its holes."""
    tree = ast.parse(stage.tests.read_text(encoding="utf-8"))
    return [each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)
            and any("mark.hole" in ast.unparse(mark) for mark in each.decorator_list)]


def named_by_hole(stage):
    """The names of a stage's tests by the exercise that they are for."""
    found = {hole.id: [] for hole in stage.holes}
    for each in ast.walk(ast.parse(stage.tests.read_text(encoding="utf-8"))):
        if isinstance(each, ast.FunctionDef):
            for mark in map(ast.unparse, each.decorator_list):
                if mark.startswith("pytest.mark.hole("):
                    found.setdefault(ast.literal_eval(mark[17:-1]), []).append(each.name)
    return found


WITH_HOLES = [each for each in stages() if each.holes]


@pytest.mark.parametrize("stage", WITH_HOLES, ids=lambda stage: stage.key)
def test_every_test_says_what_it_asks_for(stage):
    names, sentences = for_a_hole(stage), stage.words["tests"]
    assert len(names) == len(set(names))
    assert set(sentences) == set(names)
    assert all(len(each) <= 320 and each[-1] in ".)\"" for each in sentences.values())


@pytest.mark.parametrize("stage", WITH_HOLES, ids=lambda stage: stage.key)
def test_sentences_and_the_tests_that_they_are_about_exist(stage):
    for symptom, test in stage.words.get("about", {}).items():
        assert symptom in stage.words["symptoms"]
        assert test in stage.words["tests"]


@pytest.mark.parametrize("stage", WITH_HOLES, ids=lambda stage: stage.key)
def test_with_several_mistakes_the_sentence_and_the_test_that_it_is_about_are_shown(stage):
    tests = named_by_hole(stage)
    for hole in stage.holes:
        mine = stage.symptoms_of(hole)
        failing = tuple(Outcome(f"t.py::{name}", (hole.id,), False, "assert 1 == 2")
                        for name in tests[hole.id])
        for position, symptom in enumerate(mine):
            if about := stage.words.get("about", {}).get(symptom):
                assert about in tests[hole.id], f"{symptom} belongs to another exercise"
                trial = Trial(failing, dict.fromkeys(mine[position:], True))
                (verdict,) = verdicts(stage, trial, [hole])
                assert verdict.diagnosis == stage.words["symptoms"][symptom]
                assert verdict.first.test == f"t.py::{about}"


def test_code_that_takes_too_long_is_told_so_and_others_wait_for_it():
    late = "TimeLimit: it did not end within 10 seconds; stopped at x.py, line 3, in f "
    outcomes = (Outcome("t1", (OTHER.id,), False, f"{late}({OTHER.id})"),
                Outcome("t2", (HOLE.id,), False, f"{late}({OTHER.id})"))
    first, second = verdicts(STAGE, Trial(outcomes, {SYMPTOM: True}), [OTHER, HOLE])
    assert first.diagnosis == (f"It did not end within 10 seconds; stopped at x.py, line 3, in f "
                               f"({OTHER.id}).")
    assert (second.state, second.waits_for) == ("waiting", OTHER.id)
    (alone,) = verdicts(STAGE, Trial(outcomes[1:]), [HOLE])
    assert alone.state == "wrong"  # the other one is right: this one calls it for ever


@pytest.mark.parametrize(("body", "says"), slow_but(2, [
    ("pass", "it returns None"),
    ("return 6.0", None), ("return 3.0", None), ("return -6.0", None), ("return 12.0", None)]))
def test_a_constant_or_nothing_is_told_no_mistake_that_it_is_not(tmp_path, body, says):
    stage = next(each for each in stages() if each.number == "00")
    text = stage.exercise("tiny.py").read_text(encoding="utf-8")
    file = tmp_path / "tiny.py"
    stub = 'raise NotImplementedError("00.1 Measure a slope is yours to write")'
    file.write_text(text.replace(stub, body), encoding="utf-8")
    hole = stage.holes[0]
    (found,) = verdicts(stage, try_files(stage, {"tiny.py": file}, [hole.id]), [hole])
    assert found.state == "wrong" and found.diagnosis.startswith("Expected: ")
    assert says is None or f"Here {says}." in found.diagnosis


@pytest.mark.slow
def test_no_sentence_shows_an_id_that_pytest_made_up():
    """`{case}` is the id of a test's case; `shape0` or `(False)` would say nothing to a learner."""
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/stages", "--collect-only", "-q",
         "-p", "no:cacheprovider"], capture_output=True, text=True, check=True,
        cwd=STAGE.root).stdout
    cases = re.findall(r"::(test_\w+)\[(.*)\]$", collected, re.M)
    assert len(cases) > 500
    said = {name: text for stage in stages() for name, text in stage.words.get("tests", {}).items()
            if "{case}" in text}
    made_up = re.compile(r"(?!(?:float|int|uint|complex|Dropout)\d)[A-Za-z_]+\d+|<lambda>")
    assert [(name, case) for name, case in cases if name in said and (
        any(map(made_up.fullmatch, case.split("-")))
        or (case in ("True", "False", "None") and " ({case})" in said[name]))] == []
