"""Assignments: what students get shows no answer, and what is uploaded grades as it should."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")
pytest.importorskip("jsonschema", reason="the forms of results are checked with it")

import jsonschema
from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.commands.export import FORMATS
from minigrad_course.content import stages as course
from minigrad_course.content.stages import CourseError
from minigrad_course.export import cell, classroom50, gradescope, guard, nbgrader, otter, verify
from minigrad_course.export.assignment import Assignment
from minigrad_course.export.student import check, leaks, lesson_without_answers, write_student
from minigrad_course.export.verify import FreshFolder, known_mistake
from minigrad_course.export.wheel import make_wheel
from minigrad_course.grading.sandbox import Sandbox

STAGES = [stage for stage in course.stages() if stage.holes]
STAGE = course.find_stage("07")
SEED = 918273645546
ASSIGNMENT = Assignment((STAGE,), SEED, {"07.1": 7})
MOST = 10 - STAGE.holes[0].points + 7

whole = pytest.mark.skipif(not os.environ.get("MINIGRAD_EXPORT_WHOLE"),
                           reason="MINIGRAD_EXPORT_WHOLE=1 (make export-full) tries it")

TEST = {"type": "object", "required": ["score", "max_score", "name", "output", "visibility",
                                       "status"],
        "properties": {"score": {"type": "number", "minimum": 0}, "max_score": {"type": "number"},
                       "name": {"type": "string"}, "output": {"type": "string"},
                       "number": {"type": "string"},
                       "visibility": {"enum": ["visible", "hidden", "after_due_date",
                                               "after_published"]},
                       "status": {"enum": ["passed", "failed"]}}}
GRADESCOPE = {"type": "object", "required": ["tests"], "additionalProperties": False,
              "properties": {"visibility": {"type": "string"},
                             "stdout_visibility": {"type": "string"},
                             "tests": {"type": "array", "minItems": 1, "items": TEST}}}
TEXT = {"type": "string", "minLength": 1}
CLASSROOM50 = {
    "type": "object",
    "required": ["schema", "classroom", "assignment", "submission", "commit", "release", "review",
                 "datetime", "score", "max-score", "tests"],
    "properties": {
        "schema": {"const": "classroom50/result/v1"}, "classroom": TEXT, "assignment": TEXT,
        "submission": TEXT, "commit": TEXT, "release": TEXT, "review": TEXT,
        "datetime": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
        "score": {"type": "integer", "minimum": 0}, "max-score": {"type": "integer"},
        "tests": {"type": "array", "items": {
            "type": "object", "required": ["test-name", "passed", "score", "max-score"],
            "properties": {"test-name": TEXT, "passed": {"type": "boolean"},
                           "score": {"type": "integer", "minimum": 0},
                           "max-score": {"type": "integer"}}}}}}


def wrong_answer():
    """Return the files of the known mistake, its sentence and the points that are left."""
    from minigrad_course.content.source import mutated

    _, hole, mutant = known_mistake([STAGE])
    files = ASSIGNMENT.solutions() | {ASSIGNMENT.inside(STAGE, path): text for path, text
                                      in mutated(STAGE, hole, mutant).items()}
    return files, STAGE.words["symptoms"][mutant.symptom], MOST - ASSIGNMENT.points(hole.id)


# ---------------------------------------------------------------------- the wheel

@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Our wheel, made from the checkout."""
    return make_wheel(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_is_the_build_tools(wheel, tmp_path):
    pytest.importorskip("hatchling", reason="builds the other wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
                   cwd=course.checkout(), check=True, capture_output=True)
    (other,) = tmp_path.glob("*.whl")
    assert other.name == wheel.name
    with zipfile.ZipFile(wheel) as mine, zipfile.ZipFile(other) as theirs:
        assert sorted(mine.namelist()) == sorted(theirs.namelist())
        described = ("WHEEL", "RECORD", "METADATA")
        assert [name for name in mine.namelist() if not name.endswith(described)
                and mine.read(name) != theirs.read(name)] == []
        (name,) = (name for name in mine.namelist() if name.endswith(".dist-info/METADATA"))
        # A build tool writes out what an extra takes from another; that is left aside.
        told = [{line for line in text.decode().splitlines() if ";" not in line and line.startswith(
                    ("Requires-", "Provides-", "Name:", "Version:"))}
                for text in (mine.read(name), theirs.read(name))]
        assert told[0] == told[1]


def test_the_wheel_lists_what_it_holds(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (record,) = (name for name in archive.namelist() if name.endswith("/RECORD"))
        rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
        assert sorted(name for name, _, _ in rows) == sorted(archive.namelist())
        for name, digest, size in rows[:-1]:
            content = archive.read(name)
            known = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={known}", str(len(content)))
    assert not any("solutions/" in name for name, _, _ in rows)


@pytest.mark.slow
def test_an_installed_package_makes_the_same_wheel_and_assignment(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "minigrad_course", "export", "07", "--format", "gradescope",
         "--out", "made"], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "COLUMNS": "100"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "made" / wheel.name).read_bytes() == wheel.read_bytes()


# ---------------------------------------------------------------------- what students get

@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_students_get_no_answers(stage, tmp_path):
    folder = write_student(Assignment((stage,), SEED), tmp_path / "student", "Hand it in.")
    names = {each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()}
    exercises = {f"exercises/{stage.exercise(path, Path()).as_posix()}" for path in stage.modules}
    shipped = {f".minigrad/shipped/{name.removeprefix('exercises/')}" for name in exercises}
    pictures = set(re.findall(r"\]\((pictures/[^)]+)\)", (folder / "lesson.md").read_text("utf-8")))
    assert names == exercises | shipped | pictures | {"README.md", "lesson.md", "progress.json"}
    answer = Assignment((stage,)).solutions()
    assert leaks(stage, answer), "the check sees nothing in a solution"
    assert leaks(stage, {"lesson": stage.text()}), "the check sees nothing in the lesson itself"
    lesson = lesson_without_answers(stage)
    assert not leaks(stage, {"lesson": lesson})
    assert "](../minigrad/" not in lesson and "Made by" not in lesson
    assert lesson.count("<!-- rest: ") == len(stage.modules)


@pytest.mark.parametrize("name", ["more.md", "notes.ipynb"])
def test_an_answer_is_not_handed_out(name, tmp_path):
    write_student(ASSIGNMENT, tmp_path / "student", "Hand it in.")
    check(ASSIGNMENT, tmp_path / "student")
    (text,) = ASSIGNMENT.solutions().values()
    notebook = {"cells": [{"source": text.splitlines(keepends=True)}]}
    (tmp_path / "student" / name).write_text(text if name == "more.md" else json.dumps(notebook))
    with pytest.raises(CourseError, match="would show answers: "):
        check(ASSIGNMENT, tmp_path / "student")


def test_a_seed_is_not_handed_out(tmp_path):
    write_student(ASSIGNMENT, tmp_path / "student", "Hand it in.")
    (tmp_path / "student" / "more.md").write_text(f"seed = {SEED}\n")
    with pytest.raises(CourseError, match=r"more\.md contains the seed"):
        check(ASSIGNMENT, tmp_path / "student")


@pytest.mark.slow
def test_students_can_try_their_answers(tmp_path):
    space = write_student(ASSIGNMENT, tmp_path / "student", "Hand it in.")
    for name, text in ASSIGNMENT.solutions().items():
        (space / "exercises" / name).write_text(text)
    done = subprocess.run([sys.executable, "-m", "minigrad_course", "run", "07"], cwd=space,
                          capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(course.checkout())})
    assert done.returncode == 0, done.stdout + done.stderr


# ---------------------------------------------------------------------- the command

@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What the command makes in each form, with a seed and weights."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "course.toml").write_text(
        f"stages = ['03', '07']\nseed = {SEED}\n[weights]\n'07.1' = 7\n'03.1' = 9\n")
    for form in FORMATS:
        result = CliRunner().invoke(app, ["export", "07", "--format", form, "--out",
                                          str(folder / form), "--course",
                                          str(folder / "course.toml")])
        assert result.exit_code == 0, result.output
        assert str(SEED) not in result.output
    return folder


def holds_seed(path):
    """Return the names of files under a folder, and in archives, that hold the seed."""
    found = []
    for each in sorted(path.rglob("*")):
        if each.suffix in (".zip", ".whl"):
            with zipfile.ZipFile(each) as archive:
                found += [f"{each.name}:{name}" for name in archive.namelist()
                          if str(SEED).encode() in archive.read(name)]
        elif each.is_file() and str(SEED).encode() in each.read_bytes():
            found.append(each.relative_to(path).as_posix())
    return found


@pytest.mark.parametrize(("form", "where"), [
    ("gradescope", ["autograder.zip:course.toml", "course.toml"]),
    ("classroom50", []),
    ("nbgrader", ["source/07_grad_mode/07_grad_mode.ipynb"]),
    ("otter", [*(f"autograder.zip:tests/gap_07_{i}.py" for i in range(1, 6)), "course.toml"]),
])
def test_the_seed_is_where_the_grader_is_alone(made, form, where):
    assert holds_seed(made / form) == where
    assert all((made / form / name.partition(":")[0]).stat().st_mode & 0o077 == 0 for name in where)


@pytest.mark.parametrize("form", FORMATS)
def test_each_form_brings_our_wheel_and_a_page(made, form):
    (wheel,) = (made / form).glob("*.whl")
    if form == "classroom50":
        assert (made / form / "autograder" / wheel.name).read_bytes() == wheel.read_bytes()
    elif form != "nbgrader":
        with zipfile.ZipFile(made / form / "autograder.zip") as archive:
            assert archive.read(wheel.name) == wheel.read_bytes()
    assert "minigrad" in (made / form / "README.md").read_text()
    if FORMATS[form].program:
        assert "**Low trust.**" in (made / form / "README.md").read_text()


def test_a_gradescope_archive_has_its_programs_at_its_root(made):
    with zipfile.ZipFile(made / "gradescope" / "autograder.zip") as archive:
        for name in ("setup.sh", "run_autograder"):
            assert archive.getinfo(name).external_attr >> 16 & 0o111
            assert subprocess.run(["bash", "-n"], input=archive.read(name)).returncode == 0


@pytest.mark.parametrize("form", ["nbgrader", "otter"])
def test_notebooks_are_valid(made, form):
    nbformat = pytest.importorskip("nbformat", reason="checks notebooks")
    for path in (made / form).rglob("*.ipynb"):
        nbformat.validate(nbformat.read(path, 4))


def test_the_metadata_that_nbgrader_reads(made):
    for folder in ("source/07_grad_mode", "student"):
        text = (made / "nbgrader" / folder / "07_grad_mode.ipynb").read_text()
        cells = {cell["id"]: cell for cell in json.loads(text)["cells"]}
        assert cells["points"]["metadata"]["nbgrader"] == {
            "schema_version": 3, "grade": True, "grade_id": "points", "points": MOST,
            "locked": True, "solution": False, "task": False}
        assert cells["folders"]["metadata"]["nbgrader"] == {
            "schema_version": 3, "grade": False, "grade_id": "folders", "locked": True,
            "solution": False, "task": False}
        assert ("HIDDEN TESTS" in text) == (folder != "student")


@pytest.mark.slow
def test_a_seed_is_drawn_and_told_once(tmp_path):
    result = CliRunner().invoke(app, ["export", "07", "--format", "gradescope", "--out",
                                      str(tmp_path / "made")])
    assert result.exit_code == 0, result.output
    (line,) = (line for line in result.output.splitlines() if line.startswith("seed: "))
    seed = line.removeprefix("seed: ").partition(",")[0]
    assert f"seed = {seed}\n" in (tmp_path / "made" / "course.toml").read_text()


@pytest.mark.parametrize(("words", "told"), [
    (["07", "--format", "xml"], "unknown format; the formats are gradescope, classroom50"),
    (["99", "--format", "otter"], "there is no stage '99'"),
    (["14", "--format", "otter"], "stage 14 has no exercises to grade"),
    (["07", "--format", "otter", "--out", "."], ". exists and is not empty"),
    (["07", "--format", "otter", "--course", "missing.toml"], "missing.toml: No such file"),
])
def test_what_cannot_be_made_is_told(words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "something").touch()
    given = words if "--out" in words else [*words, "--out", "new"]
    result = CliRunner().invoke(app, ["export", *given])
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())
    assert not (tmp_path / "new").exists()


# ---------------------------------------------------------------------- grading

@pytest.mark.slow
def test_gradescope_gives_some_points_and_the_sentence(made, tmp_path):
    files, sentence, points = wrong_answer()
    graded = gradescope.grade(made / "gradescope", files, FreshFolder(tmp_path))
    assert (graded.score, graded.max_score) == (points, MOST)
    assert sentence in graded.told
    jsonschema.validate(graded.result, GRADESCOPE)
    assert all(test["score"] <= test["max_score"] for test in graded.result["tests"])
    source = tmp_path / "autograder" / "source"
    assert all(each.stat().st_mode & 0o077 == 0 for each in [source, *source.iterdir()])


@pytest.mark.slow
def test_classroom50_takes_nothing_from_a_checkout(made, tmp_path):
    """What a student plants beside the answers is neither imported nor followed."""
    kept = tmp_path / "kept.json"
    kept.write_text("{}")
    copied = tmp_path / "made"
    shutil.copytree(made / "classroom50", copied)
    template = copied / "template"
    for name in ("json", "zipfile", "venv", "sitecustomize", "numpy", "typer", "minigrad/__init__",
                 "minigrad_course/__init__", "minigrad_course/__main__"):
        path = template / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import os\nos._exit(0)\n")
    (template / "result.json").symlink_to(kept)
    (tmp_path / "place").mkdir()
    graded = classroom50.grade(copied, ASSIGNMENT.exercises(), FreshFolder(tmp_path / "place"))
    assert (graded.score, graded.max_score) == (0, MOST)
    jsonschema.validate(graded.result, CLASSROOM50)
    assert graded.result["submission"] == classroom50.RUNNER["SUBMISSION_TAG"]
    assert kept.read_text() == "{}"


def test_an_autograder_without_its_runner_grades_nothing(made, tmp_path):
    environment = {name: value for name, value in os.environ.items()
                   if name not in classroom50.RUNNER}
    done = subprocess.run(
        [sys.executable, str((made / "classroom50" / "autograder" / "autograder.py").resolve())],
        cwd=tmp_path, env={**environment, "MINIGRAD_PYTHON": sys.executable},
        capture_output=True, text=True)
    assert done.returncode == 1
    assert "the runner should set CLASSROOM, but it is not set" in done.stderr
    assert not (tmp_path / "result.json").exists()


@pytest.mark.parametrize(("reasons", "weights", "expected"), [
    (["", ""], None, 5.0), (["", "wrong"], None, 2.0), (["wrong", "wrong"], None, 0.0),
    (["", "wrong"], {"x.1": 7}, 7.0), (["wrong", ""], {"x.2": 0}, 0.0),
])
def test_a_cell_returns_one_float(reasons, weights, expected, monkeypatch, capsys):
    holes = [{"hole": f"x.{i}", "title": "t", "max_points": i + 1, "reason": reason,
              "diagnosis": "the sentence" if reason else "", "failing": [["a::b", "no\nmore"]],
              "hints": ["look  again"]}
             for i, reason in enumerate(reasons, 1)]
    monkeypatch.setattr(cell, "_graded", lambda *_: (holes, ["a note"]))
    value = cell.points("x", weights=weights)
    assert type(value) is float
    assert value == expected
    told = capsys.readouterr().out
    assert ("the sentence" in told) == any(reasons) == ("    hint: look again\n" in told)
    assert told.startswith("a note\n")
    assert [cell.verdict(f"x.{i}") == "solved" for i in (1, 2)] == [not each for each in reasons]


@pytest.mark.parametrize("form", FORMATS)
def test_several_stages_and_hints_are_in_every_export(form, tmp_path):
    stages = [course.find_stage("00"), STAGE]
    settings = tmp_path / "course.toml"
    settings.write_text('hints = 2\nstages = ["00", "07"]\n[weights]\n"00.1" = 5\n')
    out = tmp_path / "made"
    result = CliRunner().invoke(app, ["export", "00,07", "--format", form, "--out", str(out),
                                      "--course", str(settings)])
    assert result.exit_code == 0, result.output
    texts = {each.relative_to(out).as_posix(): each.read_text(encoding="utf-8")
             for each in out.rglob("*") if each.is_file() and each.suffix not in (".zip", ".whl")}
    for path in out.rglob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            texts |= {f"{path.name}/{name}": archive.read(name).decode()
                      for name in archive.namelist() if not name.endswith(".whl")}
    said = "\n".join(texts.values())
    for stage in stages:
        assert any(name.endswith(f"lessons/{stage.key}/lesson.md") for name in texts)
        for hole in stage.holes:
            assert f"{hole.id} " in said
    if form in ("gradescope", "classroom50"):
        name = {"gradescope": "autograder.zip/course.toml", "classroom50": "autograder/course.toml"}
        assert 'stages = ["00", "07"]\nhints = 2\n' in texts[name[form]]
        assert '"00.1" = 5' in texts[name[form]]
    elif form == "nbgrader":
        assert 'points(\\"00,07\\", seed, weights={\'00.1\': 5}, hints=2)' in said
    else:
        gaps = {name.rpartition("/")[2]: text for name, text in texts.items() if "/gap_" in name}
        assert gaps["gap_00_1.py"].count("cell.HINTS = 2") == 1
        assert "gap_07_5.py" in gaps


@pytest.mark.slow
def test_what_cannot_be_graded_raises(monkeypatch, tmp_path):
    with pytest.raises(RuntimeError, match=r"minigrad grade failed: .*there is no stage '99'"):
        cell.points("99", folder=tmp_path)


@whole
@pytest.mark.slow
@pytest.mark.parametrize("number", ["07", "13a"])
@pytest.mark.parametrize("form", FORMATS)
def test_verify_finds_nothing(form, number, tmp_path):
    result = CliRunner().invoke(app, ["export", number, "--format", form, "--verify", "--out",
                                      str(tmp_path / "made")])
    assert result.exit_code == 0, result.output
    assert "the exercise as shipped: 0 of 10" in result.output
    assert "the solution: 10 of 10" in result.output


@pytest.mark.slow
def test_verify_tells_what_is_wrong(made, monkeypatch):
    from minigrad_course.export.verify import Graded, findings

    def generous(files, place):
        return Graded(MOST, MOST, "well done")

    found = list(findings(ASSIGNMENT, generous))
    assert [each.partition(":")[0] for each in found] == [
        "the exercise as shipped", *["the mistake 'goes on recording' in 07.5"] * 3]


#: Looks for what a grader knows, and says in a gap what it found.
SPY = '''
import glob, os


def _look(path):
    try:
        with open(path, "rb") as file:
            return file.read(4000)
    except OSError:
        return b""


_seen = [_path for _path in {paths!r} if _look(_path)]
_seen += [_path for _path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline")
          if {seed!r} in _look(_path)]
'''


@pytest.mark.parametrize(("kind", "given", "refused"), [
    ("limits", "", True), ("limits", "1", False), ("user", "", False), ("bubblewrap", "", False)])
def test_nothing_is_graded_without_a_sandbox(kind, given, refused, monkeypatch):
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", given)
    monkeypatch.setattr(guard, "best_sandbox", lambda: Sandbox(kind))
    if refused:
        with pytest.raises(SystemExit, match="refusing to grade"):
            guard.main()
    else:
        guard.main()


@whole
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs to be root")
def test_a_user_of_its_own_sees_nothing(made, tmp_path, monkeypatch):
    """Where bubblewrap does not work, as in most containers."""
    python = os.environ.get("MINIGRAD_PYTHON", sys.executable)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "bwrap").chmod(0o755)
    for each in (tmp_path, *tmp_path.parents[:2]):
        each.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    verify.offline.cache_clear()
    root = tmp_path / "place" / "autograder"
    paths = [str(root / name) for name in (
        "source/course.toml", "source/package/minigrad/autograd/grad_mode.py",
        "results/results.json", "submission/07_grad_mode.py", "source/run_autograder")]
    ((name, text),) = ASSIGNMENT.exercises().items()
    spy = SPY.format(paths=[*paths, "/etc/passwd"], seed=str(SEED).encode())
    text = text.replace("GeneratorType =", f"{spy}\nGeneratorType =", 1).replace(
        'raise NotImplementedError("07.1', 'raise RuntimeError(f"SEEN {_seen}")  # ("07.1', 1)
    (tmp_path / "place").mkdir()
    place = FreshFolder(tmp_path / "place", python)
    try:
        graded = gradescope.grade(made / "gradescope", {name: text}, place,
                                  {"MINIGRAD_ANY_SANDBOX": ""})
    except CourseError as refused:
        if "would run as root" not in str(refused):
            raise
        pytest.skip("another user cannot start this Python; MINIGRAD_PYTHON names one")
    finally:
        verify.offline.cache_clear()
    assert re.search(r"SEEN \[('/etc/passwd')?\]", graded.told)  # without Landlock it is seen
    assert graded.score == 0


@whole
@pytest.mark.slow
@pytest.mark.parametrize(("form", "module"), [("nbgrader", nbgrader), ("otter", otter)])
def test_a_real_run(made, form, module, tmp_path):
    if shutil.which(form) is None:
        pytest.skip(f"{form} is not installed")
    files, sentence, points = wrong_answer()
    graded = module.grade(made / form, files, FreshFolder(tmp_path))
    assert (graded.score, graded.max_score) == (points, MOST)
    assert " ".join(sentence.split()) in " ".join(graded.told.split())
    assert graded.result is not None
    if form == "otter":  # nbgrader's feedback shows an instructor's hidden regions
        assert str(SEED) not in graded.told
