"""What is taken in, what is said of what is not, and the notes that are told once."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content import stages as course
from minigrad_course.grading.feedback import as_page, as_text
from minigrad_course.grading.grade import NOT_PYTHON, Grade, HoleGrade, grade
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.report import Report
from minigrad_course.grading.sandbox import Sandbox
from minigrad_course.grading.writers import WRITERS, classroom50, gradescope

STAGE = course.find_stage("07")
(MODULE,) = STAGE.modules
SOLUTION = STAGE.solution(MODULE).read_text(encoding="utf-8")
RUNNER = {"CLASSROOM": "c", "ASSIGNMENT": "a", "SUBMISSION_TAG": "t", "COMMIT_URL": "u",
          "RELEASE_URL": "r"}


@pytest.mark.parametrize(("text", "told"), [
    (b"# coding: unicode_escape\n", "unicode_escape"),
    (b"#!x\n# -*- coding: latin-1 -*-\n", "latin-1"),
    (b"\n\x0c # vim: fileencoding=utf-7\r\n", "utf-7"), (b"# x\r# coding=cp037\r", "cp037"),
    (b"\xef\xbb\xbf# coding: utf_8\n", ""), (b"# coding: UTF-8\n", ""),
    (b"x = 1\ny = 2\n# coding: latin-1\n", ""), (b"coding = latin\n", ""),
])
def test_another_encoding_is_not_taken(tmp_path, text, told):
    """Read as it asks for, a comment would be code."""
    (tmp_path / "handin.py").write_bytes(text)
    problems = take_in(tmp_path / "handin.py", STAGE).problems
    assert list(problems.values()) == ([f"handin.py declares the encoding {told}; hand in "
                                        "UTF-8, without that line"] if told else [])


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_an_empty_file_is_said_to_be_empty(tmp_path, text):
    (tmp_path / "handin.py").write_text(text, encoding="utf-8")
    submission = take_in(tmp_path / "handin.py", STAGE)
    assert submission.problems == {
        MODULE: "07_grad_mode.py is empty; hand in the file that contains your answers"}
    assert not submission.texts


def test_a_file_of_another_stage_is_named(tmp_path):
    """Every file of the course, as shipped and as solved, is handed in for this stage."""
    (tmp_path / "own.py").write_bytes(STAGE.solution(MODULE).read_bytes())
    assert not take_in(tmp_path / "own.py", STAGE).problems
    named = 0
    for other in course.stages():
        for path in other.modules:
            for file in (other.exercise(path), other.solution(path)):
                (tmp_path / "handin.py").write_bytes(file.read_bytes())
                (problem,) = [*take_in(tmp_path / "handin.py", STAGE).problems.values(), ""][:1]
                if other.key == STAGE.key:
                    assert problem == ""
                elif problem:
                    assert f"looks like stage {other.number}" in problem or \
                        path in course.find_stage(problem.split()[4]).modules
                    named += 1
    assert named > 30


@pytest.mark.parametrize(("text", "told"), [
    ('{\n "cells": [{"source": ["no_grad = 1"]}], "nbformat": 4}', "is a notebook, not Python"),
    ("\n<!DOCTYPE html>\n<html>no_grad</html>", "is a web page, not Python"),
    ("{\\rtf1 no_grad}", "is a document, not Python"),
])
def test_what_is_no_answer_is_named(tmp_path, text, told):
    (tmp_path / "handin.py").write_text(text)
    (problem,) = take_in(tmp_path / "handin.py", STAGE).problems.values()
    assert problem.startswith(f"07_grad_mode.py {told}; hand in the")


def test_exercises_that_are_not_there_are_named(tmp_path):
    (tmp_path / "handin.py").write_text("# to do\n")
    result = grade(STAGE, take_in(tmp_path / "handin.py", STAGE), Sandbox("limits"))
    assert result.points == 0
    assert result.holes[0].reason == (
        "07_grad_mode.py has no `is_grad_enabled`, which this exercise asks you to write")


def test_an_archive_under_the_name_of_a_program_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "handin.py", "w") as archive:
        archive.writestr("hw.py", "x = 1")
    (problem,) = take_in(tmp_path / "handin.py", STAGE).problems.values()
    assert problem == ("handin.py is an archive or an office document; hand in the .py file itself")


@pytest.mark.parametrize("status", [0, 3])
def test_code_that_ends_the_process_is_explained(tmp_path, status):
    (tmp_path / "handin.py").write_text(f"{SOLUTION}\nimport os\nos._exit({status})\n")
    result = grade(STAGE, take_in(tmp_path / "handin.py", STAGE), Sandbox("limits"))
    assert result.points == 0
    assert {each.reason for each in result.holes} == {
        f"cannot import the package with this answer: the process ended with status {status}"}
    assert all(f"ends the process, with status {status}" in each.diagnosis
               for each in result.holes)


@pytest.mark.parametrize(("files", "told"), [
    ([], "07_grad_mode.py is missing; no .py file was found"),
    (["notes.txt"], "07_grad_mode.py is missing; no .py file was found"),
    (["work.zip"], "07_grad_mode.py is missing; work.zip is an archive; unpack it"),
    (["a.ipynb"], "07_grad_mode.py is missing; a.ipynb is a notebook; hand in the .py files that "
                  "it writes"),
    (["mine/exercises/07_grad_mode.py", "hw.py"],
     "07_grad_mode.py is missing; mine/exercises/07_grad_mode.py was found instead"),
    (["hw.py"], "07_grad_mode.py is missing; hw.py was found instead"),
    ([f"{i}.py" for i in range(5)],
     "07_grad_mode.py is missing; 0.py, 1.py, 2.py ... were found instead"),
    (["hw.py", "a.tgz"], "07_grad_mode.py is missing; hw.py was found instead; a.tgz is an "
                         "archive; unpack it"),
])
def test_what_was_found_instead_is_told(tmp_path, files, told):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    assert take_in(tmp_path, STAGE).problems == {MODULE: told}


def test_of_several_files_those_that_are_there_are_not_found_instead(tmp_path):
    stage = course.find_stage("03")
    there, *missing = stage.modules
    path = tmp_path / stage.exercise(there, Path())
    path.parent.mkdir(parents=True)
    path.write_text("x = 1\n")
    (tmp_path / "engine.py").write_text("x = 1\n")
    problems = take_in(tmp_path, stage).problems
    assert problems.keys() == set(missing)
    assert all(each.endswith(" is missing; engine.py was found instead")
               for each in problems.values())


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.ipynb"])
def test_what_is_packed_is_told(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\0")
    (problem,) = take_in(tmp_path / name, STAGE).problems.values()
    assert problem.startswith(f"{name} is a")


def test_a_link_is_not_followed_in_the_search(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.py").write_text("x = 1\n")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "out")
    (folder / "loop").symlink_to(folder)
    (problem,) = take_in(folder, STAGE).problems.values()
    assert problem.endswith("no .py file was found")


def test_the_line_of_a_syntax_error_is_told_once(tmp_path):
    (tmp_path / "handin.py").write_text("x = 1\ndef (:\n")
    notes = take_in(tmp_path / "handin.py", STAGE).notes
    assert notes == ("07_grad_mode.py, line 2: invalid syntax: def (:",)
    holes = tuple(HoleGrade(hole.id, "t", 0, 1, NOT_PYTHON, (("t", "SyntaxError: line 2"),))
                  for hole in STAGE.holes)
    report = Report("handin.py", (Grade("handin.py", STAGE.key, holes, notes=notes),))
    shown = [as_text(report), as_page(report), WRITERS["html"]([report]),
             json.dumps(gradescope(report)),
             json.dumps(classroom50(report, RUNNER))]
    assert [text.count("line 2") for text in shown] == [1] * len(shown)
