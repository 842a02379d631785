"""Jobs: what their keys depend on, and which records of an earlier run still hold."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content import stages as course
from minigrad_course.grading.grade import Grade, HoleGrade
from minigrad_course.grading.process import Limits
from minigrad_course.grading.sandbox import Sandbox
from minigrad_course.grading.settings import Settings
from minigrad_course.grading.ungraded import could_not
from minigrad_course.jobs import ground as grounds
from minigrad_course.jobs import job as jobs
from minigrad_course.jobs.batch import grade_all
from minigrad_course.jobs.ground import ground
from minigrad_course.jobs.job import make_job
from tests.support.jobs import graded_by

STAGE = course.find_stage("07")
#: The files of a stage that take part in grading it, from its root.
FILES = [f"tests/stages/test_{STAGE.key}.py", "tests/_oracle.py", "lessons/probes/probing.py",
         f"lessons/probes/{STAGE.key}.py", f"lessons/stages/{STAGE.key}.py",
         f"lessons/stages/{STAGE.key}.toml", f"lessons/{STAGE.key}.toml"]


def moved(folder: Path) -> course.Stage:
    """Return the stage with its files in another folder."""
    for file in FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(STAGE.root / file, folder / file)
    return dataclasses.replace(STAGE, root=folder)


@pytest.mark.parametrize("file", FILES)
def test_a_changed_file_of_the_stage_changes_every_key(file, tmp_path):
    stage = moved(tmp_path / "root")
    before = ground(stage)
    with open(tmp_path / "root" / file, "a") as opened:
        opened.write("# another test\n")
    assert ground(stage) != before
    (tmp_path / "root" / file).unlink()
    assert ground(stage) != before


def test_another_place_changes_no_key(tmp_path):
    assert ground(STAGE) == ground(moved(tmp_path / "a")) == ground(moved(tmp_path / "b"))


def test_another_version_or_package_changes_every_key(monkeypatch, tmp_path):
    before = ground(STAGE)
    monkeypatch.setattr(grounds, "__version__", "9.9.9")
    assert ground(STAGE) != before
    monkeypatch.undo()
    for name in ("minigrad/engine/a.py", "minigrad/b.py", "data/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    one = grounds._code(tmp_path)
    grounds._code.cache_clear()
    (tmp_path / "data/c.py").write_text("x = 2\n")
    assert grounds._code(tmp_path) == one
    grounds._code.cache_clear()
    (tmp_path / "minigrad/b.py").write_text("x = 2\n")
    assert grounds._code(tmp_path) != one


def key(path: Path, settings: Settings | None = None, secret: int = 5,
        limits: Limits | None = None) -> str:
    return make_job(path, settings or Settings((STAGE,)), secret, limits or Limits()).key


def test_a_key_depends_on_the_text_and_the_settings_and_on_no_name(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.py").write_text("x = 1\n")
    (tmp_path / "c.py").write_text("x = 2\n")
    one = tmp_path / "a.py"
    assert key(one) == key(tmp_path / "elsewhere" / "b.py") == key(one)
    others = [key(tmp_path / "c.py"), key(one, Settings((STAGE,), {"07.1": 9})),
              key(one, Settings((STAGE,), hints=1)), key(one, secret=6),
              key(one, limits=Limits(seconds=9)), key(one, Settings((course.find_stage("08"),)))]
    assert len({key(one), *others}) == len(others) + 1


@pytest.fixture
def asked(monkeypatch):
    """Grading that gives all points, and a list of the names that it was asked for."""
    names: list[str] = []

    def grader(stage, submission, *_):
        names.append(submission.name)
        return Grade(submission.name, stage.key, tuple(HoleGrade(
            hole.id, "t", hole.points, hole.points) for hole in stage.holes))

    graded_by(grader, monkeypatch)
    return names


def graded(folder: Path, kept: Path) -> list[tuple[str, int]]:
    paths = sorted(folder.iterdir())
    records = grade_all(paths, Settings((STAGE,)), Sandbox("limits"), 5, 1, kept, lambda _: None)
    return [(record.report.submission, record.report.points) for record in records]


def test_what_was_moved_or_renamed_is_not_graded_again(tmp_path, asked):
    folder, kept = tmp_path / "class", tmp_path / "results.jsonl"
    folder.mkdir()
    for name in ("ann", "bo"):
        (folder / f"{name}.py").write_text(f"# {name}\n")
    assert graded(folder, kept) == [("ann.py", 10), ("bo.py", 10)]
    lines = kept.read_bytes()
    folder.rename(tmp_path / "moved")
    assert graded(tmp_path / "moved", kept) == [("ann.py", 10), ("bo.py", 10)]
    assert kept.read_bytes() == lines
    (tmp_path / "moved" / "bo.py").rename(tmp_path / "moved" / "zoe.py")
    assert graded(tmp_path / "moved", kept) == [("ann.py", 10), ("zoe.py", 10)]
    assert asked == ["ann.py", "bo.py"]
    assert [json.loads(line)["who"] for line in kept.read_bytes().splitlines()] == [
        "ann.py", "bo.py", "zoe.py"]
    (tmp_path / "moved" / "ann.py").write_text("# ann, again\n")
    graded(tmp_path / "moved", kept)
    assert asked == ["ann.py", "bo.py", "ann.py"]


def test_a_new_test_makes_every_record_stale(tmp_path, asked, monkeypatch):
    folder, kept = tmp_path / "class", tmp_path / "results.jsonl"
    folder.mkdir()
    (folder / "ann.py").write_text("x = 1\n")
    graded(folder, kept)
    graded(folder, kept)
    assert asked == ["ann.py"]
    for module in ("job", "work"):
        monkeypatch.setattr(f"minigrad_course.jobs.{module}.ground", lambda stage: "another test")
    graded(folder, kept)
    assert asked == ["ann.py"] * 2
    assert len(kept.read_bytes().splitlines()) == 2


def test_a_machine_with_other_tests_refuses_a_job(tmp_path, asked, monkeypatch):
    (tmp_path / "ann.py").write_text("x = 1\n")
    monkeypatch.setattr(jobs, "ground", lambda stage: "what that machine has")
    (record,) = grade_all([tmp_path / "ann.py"], Settings((STAGE,)), Sandbox("limits"), 5, 1,
                          tmp_path / "results.jsonl", lambda _: None)
    assert could_not(record.report)
    assert "differ between this machine" in record.report.holes[0].reason
    assert not asked and not (tmp_path / "results.jsonl").exists()


def test_results_of_an_earlier_version_are_kept_and_not_used(tmp_path, asked):
    folder, kept = tmp_path / "class", tmp_path / "results.jsonl"
    folder.mkdir()
    (folder / "ann.py").write_text("x = 1\n")
    graded(folder, kept)
    line = json.loads(kept.read_text())
    del line["key"], line["who"], line["look"]
    kept.write_text(json.dumps({"mark": "/class/ann.py 0123", **line}) + "\n")
    before = kept.read_bytes()
    graded(folder, kept)
    assert asked == ["ann.py"] * 2
    assert kept.read_bytes().startswith(before)
