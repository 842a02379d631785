"""`minigrad run` takes a file and ends a process as `minigrad grade` does, with the same words."""

from __future__ import annotations

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content import stages as course
from minigrad_course.content.plain_text import refusal
from minigrad_course.grading.grade import grade
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.sandbox import Sandbox
from minigrad_course.verdicts.verdict import verdicts
from minigrad_course.verdicts.waiting import try_answers

STAGE = course.find_stage("00")
(MODULE,) = STAGE.modules
SOLUTION = STAGE.solution(MODULE).read_bytes()


def inside_descend(*lines):
    """The solution with lines at the beginning of `descend`."""
    first = b"    for weight in weights:\n        weight.grad = 0.0"
    assert SOLUTION.count(first) == 1
    return SOLUTION.replace(first, b"".join(b"    %s\n" % line for line in lines) + first)


def run_and_grade(tmp_path, text):
    """Return the verdicts of `run` and the grades, both by exercise."""
    file = tmp_path / "handin.py"
    file.write_bytes(text)
    holes = list(STAGE.holes)
    found = verdicts(STAGE, try_answers(STAGE, {MODULE: file}, limit=10.0), holes)
    graded = grade(STAGE, take_in(file, STAGE), Sandbox("limits"), 1)
    assert [each.is_right for each in found] == [not each.reason for each in graded.holes]
    return {each.hole.id: each for each in found}, {each.hole: each for each in graded.holes}


@pytest.mark.parametrize(("text", "why"), [
    pytest.param(SOLUTION + b"# caf\xe9\n", "is not UTF-8", id="a byte of Latin-1"),
    pytest.param(b"# -*- coding: latin-1 -*-\n" + SOLUTION, "the encoding latin-1", id="a cookie"),
    pytest.param(SOLUTION + b"# \0\n", "null bytes", id="a null byte")])
def test_a_refused_file_is_refused_by_both(tmp_path, text, why):
    found, graded = run_and_grade(tmp_path, text)
    assert why in refusal(tmp_path / "handin.py")
    assert {each.diagnosis for each in found.values()} == {
        each.reason for each in graded.values()} == {refusal(tmp_path / "handin.py")}
    assert not any(each.is_readable for each in found.values())


@pytest.mark.slow
def test_standard_output_stays_open(tmp_path):
    found, _ = run_and_grade(tmp_path, inside_descend(b"import sys", b"sys.stdout.close()",
                                                      b"print(1)"))
    assert all(each.is_right for each in found.values())


@pytest.mark.slow
def test_a_process_that_an_answer_ends_has_a_reason(tmp_path):
    found, graded = run_and_grade(tmp_path, inside_descend(b"import os", b"os._exit(3)"))
    assert found["00.6"].first.message == graded["00.6"].reason \
        == "the process ended with status 3"
    assert found["00.6"].diagnosis == graded["00.6"].diagnosis
    assert found["00.6"].diagnosis.startswith("Your code ends the process, with status 3")


@pytest.mark.slow
def test_a_thread_that_sleeps_holds_nothing_up(tmp_path):
    found, _ = run_and_grade(tmp_path, SOLUTION + b"""
import threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
""")
    assert all(each.is_right for each in found.values())


@pytest.mark.slow
def test_a_deleted_function_is_named_first(tmp_path):
    found, graded = run_and_grade(tmp_path, SOLUTION[:SOLUTION.index(b"def descend")])
    assert found["00.6"].diagnosis == graded["00.6"].diagnosis
    assert "has no `descend`" in found["00.6"].diagnosis


@pytest.mark.slow
def test_code_that_is_not_python_fails_once(tmp_path):
    found, _ = run_and_grade(tmp_path, inside_descend(b"for each in weights", b"    pass"))
    assert not found["00.6"].is_readable and "not valid Python" in found["00.6"].diagnosis
