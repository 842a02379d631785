"""Points for code that lies where nobody looks, and names that are an attack: both are named."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.support.slow import slow_but

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content import stages as course
from minigrad_course.grading.grade import Grade, HoleGrade
from tests.support.answers import answered, answers
from tests.support.attacks import SANDBOXES
from tests.support.disguises import DISGUISES, package
from tests.support.jobs import graded_by

STAGE = course.find_stage("07")
(MODULE,) = STAGE.modules
#: Disguises in which the code does not stand in the bodies that the exercise asks for.
HIDDEN = [name for name in DISGUISES if name.startswith(("by ", "executed"))]


@pytest.fixture
def all_points(monkeypatch):
    """Grading that gives all points: what is named then is another matter."""
    def grader(stage, submission, *_):
        return Grade(submission.name, stage.key, tuple(
            HoleGrade(hole.id, "title", hole.points, hole.points) for hole in stage.holes))

    graded_by(grader, monkeypatch)
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")


def graded(*words: str) -> str:
    result = CliRunner().invoke(app, ["grade", *words, "--stage", "07"])
    assert result.exit_code == 0, result.output
    return result.output


def written(tmp_path: Path, text: str, name: str = "handin.py") -> str:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", HIDDEN)
def test_points_from_elsewhere_are_named(name, tmp_path, all_points):
    output = graded(written(tmp_path, DISGUISES[name](STAGE)[MODULE]))
    assert "look at handin.py: " in output
    if name.startswith("by assignment"):
        for hole in STAGE.holes:
            assert f"{hole.id} earned points, but its body does nothing" in " ".join(output.split())


def test_who_wrote_it_is_not_named(tmp_path, all_points):
    for text in (package(STAGE), *(answered(STAGE, each) for each in answers(STAGE))):
        assert "look at" not in graded(written(tmp_path, text[MODULE]))
    asked = "    return _state.grad_enabled.get()"
    broken = package(STAGE)[MODULE].replace(asked, "    return (", 1)
    output = " ".join(graded(written(tmp_path, broken)).split())
    assert "07.1 earned points, but its body does nothing" in output  # all_points gives them
    assert "07.2 earned points" not in output


@pytest.mark.skipif(not SANDBOXES, reason="no sandbox works here")
@pytest.mark.parametrize("name", slow_but(0, HIDDEN))
def test_they_work_and_are_named_all_the_same(name, tmp_path):
    """Probes cannot see where code stands, so the points are given, or not; the name is."""
    output = graded(written(tmp_path, DISGUISES[name](STAGE)[MODULE]))
    earned = int(re.search(r"handin.py: (\d+) of 10", output)[1])
    assert earned == 0 or "look at handin.py: " in output


@pytest.mark.parametrize("name", slow_but(3, [
    "a\x1b[2J\x1b]0;b\x07.py", "a\u202eyp.exe.py", "\u2066s101\u2069.py", "=cmd|' -C calc'!A0.py",
    "a\nb,c\r\"d.py", "<script>.py", "[red]x[bold].py", os.fsdecode(b"\xff\xfe.py"), "--out.py",
    "..%2f..%2fx.py", "CON.py", "a" * 200 + ".py", "\U0001f40d" * 62 + ".py", " .py", "\ufeff.py",
]))
def test_a_name_does_nothing(name, tmp_path, all_points):
    kept = tmp_path / "kept"
    roster = tmp_path / "roster.csv"
    roster.write_text("id\ns101\n", encoding="utf-8")
    path = written(tmp_path / "class", "x = 1\n", name)
    for form in ("terminal", "csv", "html", "junit"):
        output = graded(path, "--format", form, "--keep", str(kept), "--roster", str(roster))
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", output)
    lines = (kept / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    assert not any(cell.startswith("=") for line in lines for cell in line.split(","))
    for page in (kept / "grades.html", *(kept / "feedback").glob("*.html")):
        assert "<script>" not in page.read_text(encoding="utf-8")
    assert len(list((kept / "feedback").iterdir())) == 2
    assert {each.name for each in tmp_path.iterdir()} == {"class", "kept", "roster.csv"}
