"""Exercises outside the course: the example in docs/en/grading.md, verified, run and graded."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content.own_exercises import FILES, added
from minigrad_course.content.stages import OWN, CourseError, find_stage, stages

PAGE = Path(__file__).resolve().parents[2] / "docs" / "en" / "grading.md"
SECTION = PAGE.read_text(encoding="utf-8").partition("## Adding your own exercises\n")[2].partition(
    "\n## ")[0]
#: A name at the beginning of a paragraph, and the block below the paragraph.
STEP = re.compile(r"^`(\w+\.\w+)`[^\n]*\n\n```(?:python|toml)\n(.*?)^```$",
                  re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [shlex.split(line)[1:] for block in SHELL.findall(SECTION) for line in
            block.splitlines()]
OPEN = {"90.1": "return x.view_as(x)", "90.2": "return grad * ctx.factor, None"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The folder that the page describes."""
    made = tmp_path_factory.mktemp("own") / "scale_gradient"
    made.mkdir()
    files = dict(STEP.findall(SECTION))
    line = files["start.py"].strip()
    start = files["solution.py"].replace("        ctx.factor = factor\n", "")
    for number, body in OPEN.items():
        title = {"90.1": "The way forward", "90.2": "The way back"}[number]
        assert title in files["words.toml"]
        start = start.replace(body, line.replace("90.1 The way forward", f"{number} {title}"))
    for name, text in (files | {"start.py": start}).items():
        (made / name).write_text(text, encoding="utf-8")
    assert {path.name for path in made.iterdir()} == set(FILES)
    return made


def call(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(each) for each in words])
    assert result.exit_code == code, result.output
    return result.output


def test_the_page_s_commands_verify_grade_and_compare(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")
    solution = (folder / "solution.py").read_text(encoding="utf-8")
    (tmp_path / "class").mkdir()
    (tmp_path / "scale_gradient").symlink_to(folder)
    for name, text in {
            "open": (folder / "start.py").read_text(encoding="utf-8"), "right": solution,
            "wrong": solution.replace("grad * ctx.factor, None", "grad, None")}.items():
        (tmp_path / "class" / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = {}
    for words in COMMANDS:
        named = [each for word in words for each in (
            sorted((tmp_path / "class").iterdir()) if word == "class/*" else [word])]
        shown[words[0]] = call(*named)
    assert "0 findings" in shown["dev"]
    graded = shown["grade"]
    assert "open.py: 0 of 4" in graded
    assert "right.py: 4 of 4" in graded
    assert "wrong.py: 1 of 4" in graded
    assert "The gradient is passed on without the factor." in graded
    assert "among 3 answers" in shown["similarity"]
    assert (tmp_path / "results" / "grades.csv").read_text().splitlines()[1:] == [
        "open.py,0,4,0,0", "right.py,4,4,1,3", "wrong.py,1,4,1,0"]


def test_a_learner_runs_them_in_a_workspace(folder, tmp_path, monkeypatch):
    call("init", tmp_path / "space")
    monkeypatch.chdir(tmp_path / "space")
    before = (tmp_path / "space" / "progress.json").read_bytes()
    mine = tmp_path / "space" / "exercises" / "90_scale_gradient.py"
    shown = call("run", "--exercises", folder, code=1)
    assert "created" in shown
    assert "0 of 4 points" in shown
    assert mine.read_text() == (folder / "start.py").read_text()
    mine.write_text((folder / "solution.py").read_text())
    assert "3 of 3 points" in call("run", "90.2", "--exercises", folder)
    assert mine.read_text() == (folder / "solution.py").read_text()
    assert (tmp_path / "space" / "progress.json").read_bytes() == before


def test_the_course_has_them_only_for_a_while(folder):
    known = [stage.key for stage in stages()]
    with added(folder) as (stage,):
        assert stage.key == "90_scale_gradient"
        assert [each.key for each in stages()] == [*known, stage.key]
        assert find_stage("90") == stage
        root = stage.root
    assert not root.exists()
    assert [each.key for each in stages()] == known
    assert OWN not in os.environ


WRONG = {
    "no tests": ("tests.py", None, None, "has no tests.py; your own exercises need stage.toml"),
    "a number of the course": ("stage.toml", 'number = "90"', 'number = "07"', "not '07'"),
    "no number": ("stage.toml", 'number = "90"', "", "two digits in quotes"),
    "no minutes": ("stage.toml", "minutes = 20", "", "'minutes' is missing"),
    "no TOML": ("stage.toml", "minutes = 20", "minutes 20", "stage.toml|line 2"),
    "another number": ("stage.toml", 'id = "90.2"', 'id = "91.2"', "'91.2' must begin with 90."),
    "another module": ("stage.toml", "own/scale_gradient.py:ScaleGradient.backward",
                       "tensor.py:Tensor.add", "must begin with own/scale_gradient.py:"),
    "no such method": ("stage.toml", "ScaleGradient.backward", "ScaleGradient.vjp",
                       "start.py does not define ScaleGradient.vjp, which is part of 90.2"),
    "no words": ("words.toml", '[hole."90.2"]', '[hole."90.3"]', '"90.2"] needs title'),
    "no hints": ("words.toml", "hints = [\"There", "tips = [\"There", '"90.2"] needs hints'),
    "no title": ("words.toml", 'title = "Scale a gradient"', "", "words.toml: it needs a title"),
    "no probe": ("probes.py", "probe_90_2_backward", "helper", "90.2 needs a function probe_90_2"),
    "no Python": ("tests.py", "import types", "import", "tests.py, line 1: "),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_does_not_fit_is_named(kind, folder, tmp_path):
    name, before, after, why = WRONG[kind]
    made = tmp_path / "scale_gradient"
    made.mkdir()
    for each in folder.iterdir():
        (made / each.name).write_bytes(each.read_bytes())
    if before is None:
        (made / name).unlink()
    else:
        text = (made / name).read_text(encoding="utf-8")
        assert before in text
        (made / name).write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(CourseError) as error, added(made):
        pass
    assert any(each in str(error.value) for each in why.split("|"))


def test_a_name_that_is_no_module_is_refused(folder, tmp_path):
    (tmp_path / "My exercises").symlink_to(folder)
    with added(tmp_path / "My exercises"):
        pass  # the folder itself has a good name
    made = tmp_path / "My-own"
    made.mkdir()
    for each in folder.iterdir():
        (made / each.name).write_bytes(each.read_bytes())
    with pytest.raises(CourseError, match="small letters, digits and _, not 'My-own'"), added(made):
        pass


def test_an_executor_has_no_folder(folder, tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "cannot be used with --executor" in call(
        "grade", tmp_path / "a.py", "--exercises", folder, "--executor", "x:y", code=2)
