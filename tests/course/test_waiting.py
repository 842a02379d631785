"""Right answers beside open and wrong ones: they are told to wait, and they earn their points."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event, Timer

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content.source import blank, module, mutated
from minigrad_course.content.stages import Stage, find_stage
from minigrad_course.grading.grade import Grade, grade
from minigrad_course.grading.intake import Submission
from minigrad_course.grading.report import Report
from minigrad_course.grading.sandbox import Limits, best_sandbox
from minigrad_course.grading.writers import WRITERS, gradescope
from minigrad_course.learner.workspace import Workspace, make_workspace
from minigrad_course.running.learner_files import LearnerFiles
from minigrad_course.running.trial import try_each
from minigrad_course.verdicts import waiting
from minigrad_course.verdicts.verdict import Verdict, verdicts
from minigrad_course.verdicts.waiting import fewest, find_waits, try_answers
from tests.support.slow import one_in, slow_but


def solution(stage: Stage) -> dict[str, str]:
    return {path: module(stage.package, path).text for path in stage.modules}


def mistake(stage: Stage, hole: str, name: str) -> dict[str, str]:
    found = next(each for each in stage.holes if each.id == hole)
    return solution(stage) | mutated(stage, found, next(each for each in found.mutants
                                                        if each.name == name))


def edited(stage: Stage, path: str, before: str, after: str) -> dict[str, str]:
    texts = solution(stage)
    assert texts[path].count(before) == 1
    return texts | {path: texts[path].replace(before, after)}


def numpy_scalar() -> tuple[Stage, dict[str, str]]:
    stage = find_stage("04a")
    return stage, edited(stage, "engine/validate.py", "return sum_all(grad)", "return grad.sum()")


def no_view() -> tuple[Stage, dict[str, str]]:
    stage = find_stage("08")
    return stage, edited(stage, "autograd/functional/checks.py",
                         "t.view_as(t) if create_graph", "t if create_graph")


def own_counter() -> tuple[Stage, dict[str, str]]:
    stage = find_stage("06")
    return stage, mistake(stage, "06.4", "a counter of its own")


def no_array() -> tuple[Stage, dict[str, str]]:
    stage = find_stage("09")
    return stage, mistake(stage, "09.5", "None has no array")


#: A wrong answer, and those that fail with it although they are right.
PAIRS = {
    "04a.2": (numpy_scalar, {"04a.3", "04a.4", "04a.6"}),
    "08.1": (no_view, {"08.3"}),
    "06.4": (own_counter, {"06.7", "06.8"}),
    "09.5": (no_array, {"09.6"}),
}


def tried(stage: Stage, texts: dict[str, str], folder: Path, holes: list[str] | None = None,
          timeout: float = 120, limit: float | None = None) -> dict[str, Verdict]:
    files = {path: folder / path for path in texts}
    for path, text in texts.items():
        files[path].parent.mkdir(parents=True, exist_ok=True)
        files[path].write_text(text, encoding="utf-8")
    trial = try_answers(stage, files, holes, timeout, limit=limit)
    assert not trial.problem
    return {each.hole.id: each for each in verdicts(stage, trial, [
        hole for hole in stage.holes if holes is None or hole.id in holes])}


def graded(stage: Stage, texts: dict[str, str], limits: Limits | None = None) -> Grade:
    return grade(stage, Submission("x", texts), best_sandbox(), 5, limits or Limits())


@pytest.mark.parametrize("wrong", slow_but(1, PAIRS))
def test_a_right_answer_waits_for_the_wrong_one(wrong, tmp_path):
    (make, right) = PAIRS[wrong]
    stage, texts = make()
    found = tried(stage, texts, tmp_path)
    assert {hole for hole, each in found.items() if each.state == "right"} == right
    assert {found[hole].waits_for for hole in right} == {wrong}
    assert all(found[hole].points == found[hole].hole.points for hole in right)
    assert found[wrong].state == "wrong" and found[wrong].diagnosis
    others = set(found) - right - {wrong}
    assert all(found[hole].state == "solved" for hole in others)


@pytest.mark.parametrize("wrong", one_in(2, PAIRS))
def test_it_earns_its_points(wrong):
    (make, right) = PAIRS[wrong]
    stage, texts = make()
    result = graded(stage, texts)
    notes = {each.hole: each.note for each in result.holes if each.note}
    assert right <= set(notes) and set(notes.values()) == {f"correct, but waits for {wrong}"}
    lost = [each for each in result.holes if each.reason]
    assert [each.hole for each in lost] == [wrong]
    assert result.points == 10 - lost[0].max_points
    report = Report("x", (result,))
    assert Report.from_dict(report.as_dict()) == report
    assert f"correct, but waits for {wrong}" in WRITERS["html"]([report])
    assert [each["score"] for each in gradescope(report)["tests"]] == [
        each.points for each in result.holes]


@pytest.mark.slow
def test_two_mistakes_are_two_mistakes(tmp_path):
    """Neither is excused by the other, and a right answer waits for the one that it needs."""
    stage, texts = numpy_scalar()
    path = "ops/math/powers.py"
    texts[path] = texts[path].replace("def grad_self(g, self, exponent):\n",
                                      "def grad_self(g, self, exponent):\n        g = g + g\n")
    found = tried(stage, texts, tmp_path, ["04a.2", "04a.3", "04a.6"])
    assert [found[each].state for each in ("04a.2", "04a.3", "04a.6")] == ["wrong", "right",
                                                                          "wrong"]
    assert found["04a.3"].waits_for == "04a.2"
    # The failure that is shown is its own, not the scalar's.
    assert "no backend carries" not in found["04a.6"].first.message


@pytest.mark.slow
def test_an_answer_waits_for_what_is_open(tmp_path):
    stage = find_stage("04a")
    path = "engine/validate.py"
    texts = solution(stage) | {path: blank(stage, path, [stage.holes[1]])}
    found = tried(stage, texts, tmp_path)
    assert found["04a.2"].state == "untouched"
    assert {each.waits_for for number, each in found.items() if each.state == "right"} == {"04a.2"}
    assert "wrong" not in {each.state for each in found.values()}


@pytest.mark.slow
def test_the_tests_of_what_is_open_do_not_run(tmp_path, monkeypatch):
    stage = find_stage("05")
    path = "graph/hooks.py"
    texts = {each: stage.handed_out(each) for each in stage.modules}
    right = solution(stage)[path]
    texts[path] = right.replace("        self.id = next(self._ids)\n", "        self.id = 7\n")
    assert texts[path] != right
    asked: list[list[str]] = []
    try_files = waiting.try_files
    monkeypatch.setattr(waiting, "try_files",
                        lambda *given, **more: asked.append(given[2]) or try_files(*given, **more))
    found = tried(stage, texts, tmp_path, ["05.1"])
    assert found["05.1"].state == "wrong"
    still = [hole.id for hole in stage.holes if all("hooks.py" in each and not each.startswith(path)
                                                    for each in hole.symbols)]
    assert len(still) >= 3 and not set(still) & {hole for run in asked for hole in run}


@pytest.mark.slow
def test_an_answer_that_is_no_python_leaves_the_others(tmp_path):
    stage = find_stage("04a")
    path = "ops/math/powers.py"
    text = solution(stage)[path]
    line = next(i for i, each in enumerate(text.splitlines(), 1) if "def grad_exponent" in each)
    lines = text.splitlines()
    lines[line] = "        return (g"
    texts = solution(stage) | {path: "\n".join(lines) + "\n"}
    found = tried(stage, texts, tmp_path)
    assert found["04a.6"].state == "wrong"
    assert found["04a.6"].diagnosis.startswith("It is not valid Python: '(' was never closed")
    assert f"powers.py, line {line + 1}" in found["04a.6"].diagnosis
    assert all(each.is_right for number, each in found.items() if number != "04a.6")
    result = graded(stage, texts)
    assert [(each.hole, each.reason) for each in result.holes if each.reason] == [
        ("04a.6", "it is not valid Python")]


@pytest.mark.slow
@pytest.mark.parametrize("body", ["while True: pass", "raise RuntimeError('while it is imported')",
                                  "import os; os._exit(3)"])
def test_an_answer_with_which_nothing_can_be_tested_leaves_the_others(body, tmp_path):
    stage = find_stage("04a")
    path = "shapes.py"
    text = solution(stage)[path]
    source = module(stage.package, path)
    first = source.function("infer_size").body[-1].lineno
    lines = text.splitlines()
    lines.insert(first - 1, f"    {body}")
    found = tried(stage, solution(stage) | {path: "\n".join(lines) + "\n"}, tmp_path, timeout=10)
    assert found["04a.1"].state == "wrong"
    assert all(each.is_right for number, each in found.items() if number != "04a.1")


@pytest.mark.slow
def test_a_looping_answer_costs_itself_alone():
    stage, texts = numpy_scalar()
    texts["engine/validate.py"] = texts["engine/validate.py"].replace(
        "    extra = len(grad.shape) - len(shape)\n", "    while True: pass\n", 1)
    result = graded(stage, texts, Limits(seconds=12))
    assert [each.hole for each in result.holes if each.reason] == ["04a.2"]


@pytest.mark.slow
def test_a_loop_and_a_wrong_answer_are_told_each_by_its_own(tmp_path):
    """The second run of the exercise that loops comes to its limit again."""
    stage, texts = numpy_scalar()
    path = "shapes.py"
    lines = texts[path].splitlines()
    lines.insert(module(stage.package, path).function("infer_size").body[-1].lineno - 1,
                 "    while True: pass")
    found = tried(stage, texts | {path: "\n".join(lines) + "\n"}, tmp_path, limit=3)
    assert "3 seconds" in found["04a.1"].diagnosis and "shapes.py" in found["04a.1"].diagnosis
    assert {number for number, each in found.items() if each.state == "wrong"} == {"04a.1", "04a.2"}
    told = {number: (found[number].state, found[number].waits_for) for number in PAIRS["04a.2"][1]}
    assert all(state == "right" and "04a.2" in others for state, others in told.values()), told


@pytest.mark.slow
def test_a_second_run_can_be_stopped(tmp_path, monkeypatch):
    stage, texts = numpy_scalar()
    files = {path: tmp_path / path for path in texts}
    for path, text in texts.items():
        files[path].parent.mkdir(parents=True, exist_ok=True)
        files[path].write_text(text, encoding="utf-8")
    stop, begun = Event(), []

    def second(*args, **options):
        begun.append(time.monotonic())
        Timer(0.3, stop.set).start()
        return try_each(*args, **options)

    monkeypatch.setattr("minigrad_course.verdicts.waiting.try_each", second)
    try_answers(stage, files, stop=stop, limit=10)
    assert len(begun) == 1 and time.monotonic() - begun[0] < 5


@pytest.mark.slow
def test_what_an_answer_prints_in_a_second_run_is_its_own(tmp_path):
    stage, texts = numpy_scalar()
    path = "ops/math/powers.py"
    symbol = next(each for hole in stage.holes if hole.id == "04a.6" for each in hole.symbols)
    where, _, name = symbol.partition(":")
    lines = texts[where].splitlines()
    first = module(stage.package, where).function(name).body[-1].lineno
    indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
    lines.insert(first - 1, f"{indent}print('printed by 04a.6')")
    found = tried(stage, texts | {where: "\n".join(lines) + "\n"}, tmp_path)
    assert where == path and found["04a.6"].state == "right"
    assert any("printed by 04a.6" in text for _, text in found["04a.6"].printed)
    assert not any("printed by 04a.6" in text for number in ("04a.2", "04a.3")
                   for _, text in found[number].printed)


# --- what is tried ----------------------------------------------------------------------------


def trying(rule):
    """A function as `find_waits` calls it, and the list of its calls."""
    calls = []

    def tested(without, holes, last):
        calls.append((sorted(without), list(holes)))
        return [each for each in holes if rule(each, set(without))]

    return tested, calls


def test_one_run_settles_the_usual_case():
    tested, calls = trying(lambda hole, without: hole != "2" and "2" in without)
    assert find_waits(["2", "3", "4"], ["2", "3", "4"], [], tested) == {"3": ("2",), "4": ("2",)}
    assert calls == [(["2"], ["3", "4"])]


def test_what_is_still_to_be_written_is_tested_once():
    tested, calls = trying(lambda hole, without: hole == "4" and "1" in without)
    assert find_waits(["2", "3", "4"], ["1", "2", "3", "4"], ["1"], tested, ["1", "2", "3"]) == {
        "4": ("1",)}
    assert [holes for _, holes in calls] == [["4"], ["2"], ["3"]]


def test_several_that_are_needed_together_are_all_named():
    tested, _ = trying(lambda hole, without: hole == "5" and {"1", "3"} <= without)
    assert find_waits(["5"], ["1", "2", "3", "4", "5"], [], tested) == {"5": ("1", "3")}


def test_two_answers_do_not_excuse_each_other():
    tested, _ = trying(lambda hole, without: bool(without))
    assert find_waits(["1", "2"], ["1", "2"], [], tested) == {"2": ("1",)}


def test_a_wrong_answer_alone_is_not_tried_again():
    tested, calls = trying(lambda hole, without: True)
    assert find_waits(["1"], ["1"], [], tested) == {} and calls == []


@pytest.mark.parametrize("needed", ["a", "d", "bd", "abcde", "cd"])
def test_the_fewest_are_found(needed):
    assert fewest(list("abcde"), lambda chosen: set(needed) <= set(chosen)) == list(needed)


# --- the commands -----------------------------------------------------------------------------


@pytest.fixture
def space(tmp_path, monkeypatch) -> Workspace:
    monkeypatch.setenv("COLUMNS", "120")
    stage, texts = no_array()
    made = make_workspace(tmp_path / "engine")
    for path, text in texts.items():
        stage.exercise(path, made.exercises).write_text(text, encoding="utf-8")
    monkeypatch.chdir(made.root)
    return made


def call(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.mark.slow
def test_run_list_and_progress_tell_it(space):
    stage = find_stage("09")
    told = call("run", "09", code=1)
    assert "09.6 " in told and ": correct, but waits for 09.5" in told and "9 of 10 points" in told
    assert "correct, but waits for 09.5" in call("list")
    assert call("run", "09.6").startswith("right 09.6 ")
    path = "autograd/gradcheck/checks.py"
    stage.exercise(path, space.exercises).write_text(solution(stage)[path], encoding="utf-8")
    assert "10 of 10 points" in call("run", "09")
    assert "waits for" not in call("list")


def test_nothing_changes_in_files_that_can_be_read_as_they_are():
    stage = find_stage("04a")
    assert LearnerFiles(stage, solution(stage)).repaired() == {}
