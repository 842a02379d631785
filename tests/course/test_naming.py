"""Stages and exercises are named in one way everywhere; a near miss is suggested."""

from __future__ import annotations

import pytest

pytest.importorskip("merge3", reason="the course's commands need the extra 'course'")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content import stages as course
from minigrad_course.content.selection import exercises_named, one_exercise, stages_named
from minigrad_course.content.stages import CourseError
from minigrad_course.learner import skipped_stages
from minigrad_course.learner.workspace import Workspace, make_workspace


def call(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.fixture
def space(tmp_path, monkeypatch) -> Workspace:
    """A workspace, with the test inside it."""
    monkeypatch.setenv("COLUMNS", "100")
    made = make_workspace(tmp_path / "engine")
    monkeypatch.chdir(made.root)
    return made


@pytest.mark.parametrize(("text", "numbers"), [
    ("13", ["13a", "13b"]), ("13a,13b", ["13a", "13b"]), ("05-08", ["05", "06", "06b", "07", "08"]),
    ("5", ["05"]), ("3b", ["03b"]), ("03", ["03"]), ("03-04", [
        "03", "03b", "03c", "04a", "04b", "04c", "04d", "04e"]),
    ("05_hooks", ["05"]), ("hooks", ["05"]), ("07, 05", ["05", "07"]), ("0", ["00"]),
])
def test_stages(text, numbers):
    assert [stage.number for stage in stages_named(text)] == numbers


@pytest.mark.parametrize(("text", "told"), [
    ("99", "there is no stage '99'; the stages are 00, 01"),
    ("04f", "there is no stage '04f'; did you mean 04a, 04b, 04c, 04d or 04e?"),
    ("13c", "did you mean 13a or 13b?"), ("hoks", "did you mean hooks?"),
    ("08-05", "runs backwards"), ("", "there is no stage ''"),
])
def test_stages_that_are_not_there(text, told):
    with pytest.raises(CourseError) as error:
        stages_named(text)
    assert told in str(error.value)


@pytest.mark.parametrize(("text", "told"), [
    ("04", "'04' is not a single exercise; name one of 04a.1, "),
    ("04.2", "did you mean 04a.2, 04b.2, 04c.2, 04d.2 or 04e.2?"),
    ("05.9", "did you mean 05.1, 05.2, 05.3, 05.4, 05.5 or 05.6?"),
    ("14", "stage 14 has no exercises: read lessons/14_capstone.md"),
])
def test_exercises_that_are_not_there(text, told):
    with pytest.raises(CourseError) as error:
        one_exercise(text)
    assert told in str(error.value)


def test_exercises_beside_stages():
    found = exercises_named("07.2, 5, 14")
    assert [(stage.number, [hole.id for hole in holes]) for stage, holes in found] == [
        ("05", [f"05.{n}" for n in range(1, 7)]), ("07", ["07.2"])]


@pytest.mark.parametrize("words", [
    ("hint", "99"), ("run", "99"), ("reset", "99", "--yes"), ("skip", "99"), ("unskip", "99"),
    ("solution", "99"), ("run", "05", "--keep", "99"), ("python", "--mine", "99", "x.py"),
    ("learn", "--from", "99"), ("lesson", "99"), ("dev", "build", "--check", "99"),
    ("similarity", ".", "--stage", "99"), ("export", "99", "--format", "otter", "--out", "x"),
])
def test_every_command_knows_the_same_names(space, words):
    assert "there is no stage '99'; the stages are 00, 01" in call(*words, code=2)


def test_a_range_is_put_back(space):
    changed = []
    for number in ("13a", "13b"):
        stage = course.find_stage(number)
        changed.append(stage.exercise(stage.modules[0], space.exercises))
        changed[-1].write_text("mine")
    told = call("reset", "13", "--yes")
    assert "stage 13a is reset" in told and "stage 13b is reset" in told
    assert not any(file.read_text() == "mine" for file in changed)


def test_stages_are_skipped_and_brought_back(space):
    told = call("skip", "00-04")
    assert "skipped: 00, 01, 02, 03, 03b, 03c, 04a, 04b, 04c, 04d, 04e" in told
    assert "next: 05.1" in told
    assert skipped_stages.skipped(Workspace(space.root)) == {
        "00", "01", "02", "03", "03b", "03c", "04a", "04b", "04c", "04d", "04e"}
    chosen = stages_named("01-05")
    stage = course.find_stage("05")
    assert skipped_stages.own_files(space, chosen) == [(stage, space.files(stage))]
    assert "05.1, hint 1 of 3" in call("hint")
    assert "skipped" in call("progress") and "skipped" in call("list")
    assert "no longer skipped: 02" in call("unskip", "02")
    assert "next: 02.1" in call("progress")
    assert "no longer skipped: 00, 01, 03, 03b, 03c" in call("unskip")
    assert "these were not skipped" in call("unskip")
    assert "00.1, hint 1 of 3" in call("hint")


@pytest.mark.slow
def test_a_program_without_stages_runs_on_those_that_are_solved(space, capfd):
    script = space.root / "program.py"
    script.write_text("import minigrad\nfrom minigrad.graph import hooks\n"
                      "from minigrad.autograd import grad_mode\n"
                      "print(hooks.__file__)\nprint(grad_mode.__file__)\n")
    call("python", str(script))
    told = capfd.readouterr()
    assert "engine" not in told.out.replace(str(course.checkout()), "")
    stage = course.find_stage("05")
    for path in stage.modules:
        stage.exercise(path, space.exercises).write_text(
            stage.solution(path).read_text(encoding="utf-8"), encoding="utf-8")
    space.record((hole, True) for hole in stage.holes)
    call("python", str(script))
    first, second = capfd.readouterr().out.split()
    assert first == str(stage.exercise("graph/hooks.py", space.exercises))
    assert "exercises" not in second
    call("skip", "05")
    call("python", str(script))
    assert str(space.root) not in capfd.readouterr().out


def test_an_answer_is_written_into_the_file_and_the_file_is_kept(space):
    stage = course.find_stage("05")
    file = stage.exercise("graph/hooks.py", space.exercises)
    mine = file.read_text(encoding="utf-8") + "\nMINE = 1\n"
    file.write_text(mine, encoding="utf-8")
    assert "05.1 is not solved yet" in call("solution", "05.1", "--write", code=2)
    assert file.read_text(encoding="utf-8") == mine
    assert "backup of your file:" in call("solution", "05.1", "--give-up", "--write")
    written = file.read_text(encoding="utf-8")
    assert written.endswith("\nMINE = 1\n")
    solved = stage.solution("graph/hooks.py").read_text(encoding="utf-8")
    strip = "from __future__"
    assert written.partition(strip)[2] == solved.partition(strip)[2] + "\nMINE = 1\n"
    (copy,) = (space.root / ".minigrad" / "backups").rglob("*.py")
    assert copy.read_text(encoding="utf-8") == mine
