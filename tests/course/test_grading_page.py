"""What docs/en/grading.md says where no other test holds it: limits, numbers, small promises."""

from __future__ import annotations

import ast
import builtins
import csv
import inspect
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.commands import grade as command
from minigrad_course.content.plain_text import MAX_BYTES
from minigrad_course.content.stages import stages
from minigrad_course.grading import export_zip, sandbox
from minigrad_course.grading.answers import CLOSE
from minigrad_course.grading.asking import Runs
from minigrad_course.grading.feedback import as_page, as_text
from minigrad_course.grading.grade import Grade, HoleGrade, grade
from minigrad_course.grading.intake import Submission, take_in
from minigrad_course.grading.process import Ended, Limits
from minigrad_course.grading.report import Report
from minigrad_course.grading.roster_file import read_roster
from minigrad_course.grading.sandbox import Sandbox
from minigrad_course.grading.settings import Settings
from minigrad_course.jobs import budget, limited
from minigrad_course.jobs.job import Job, make_job
from minigrad_course.jobs.record import Record
from minigrad_course.similarity import calibrated, compare, signs
from tests.support.attacks import MODULE, SOLUTION, STAGE
from tests.support.jobs import graded_by, right_if_it_says_so

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "en" / "grading.md").read_text(encoding="utf-8")


def call(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(each) for each in words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def asked(monkeypatch):
    """Grading in which texts that say so are right, and the names that it was asked for."""
    names: list[str] = []

    def grader(stage, submission, *given):
        names.append(submission.name)
        if "error" in "".join(submission.texts.values()):
            raise OSError("no disk")
        return right_if_it_says_so(stage, submission, *given)

    graded_by(grader, monkeypatch)
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")
    return names


def written(folder: Path, texts: dict[str, str]) -> list[Path]:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [folder / name for name in texts]


# ------------------------------------------------------------------ a class


def test_two_identical_texts_share_a_verdict(tmp_path, asked):
    paths = written(tmp_path, {"ann.py": "right", "bo.py": "x = 1", "cy.py": "right"})
    output = call("grade", *paths, "--stage", "07", "--seed", "5", "--format", "csv")
    assert [line.split(",")[:2] for line in output.splitlines() if ".py," in line] == [
        ["ann.py", "10"], ["bo.py", "0"], ["cy.py", "10"]]
    assert sorted(asked) == ["ann.py", "bo.py"]


def test_the_process_of_the_class_parses_no_text(tmp_path, monkeypatch):
    """With a job elsewhere, nothing that reads Python is called with what a student wrote."""
    paths = written(tmp_path, {"ann.py": "mine = 1\n", "bo.py": "mine = (\n"})
    hole = HoleGrade("07.1", "t", 0, 4, "it was mine = 1", (("t::x", "mine = 1"),))
    compiled = builtins.compile

    def parse(source, *rest, **more):
        assert "mine = " not in str(source)
        return compiled(source, *rest, **more)

    monkeypatch.setattr(builtins, "compile", parse)
    monkeypatch.setattr(limited, "run_job", lambda text: Record(
        Job.from_json(text).key, Report("x", (Grade("x", STAGE.key, (hole,)),))).as_json())
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")
    call("grade", *paths, "--stage", "07", "--seed", "5", "--keep", tmp_path / "kept")
    assert len([*(tmp_path / "kept" / "feedback").iterdir()]) == 4
    with pytest.raises(AssertionError):
        ast.parse("mine = 1")


def test_the_exit_status_tells_whether_everything_was_graded(tmp_path, asked):
    paths = written(tmp_path, {"wrong.py": "x = 1", "failed.py": "error", "right.py": "right"})
    words = ["--stage", "07", "--seed", "5", "--keep", tmp_path / "kept", "--format", "csv"]
    call("grade", paths[0], paths[2], *words)
    output = call("grade", *paths, *words, code=1)
    assert "1 of 3 could not be graded and count as 0: failed.py" in output
    assert "failed.py,0," in output
    paths[1].write_text("right, later")
    call("grade", *paths, *words)
    assert sorted(asked) == ["failed.py", "failed.py", "right.py", "wrong.py"]


def test_an_interrupted_regrade_goes_on(tmp_path, asked):
    paths = written(tmp_path, {f"{name}.py": f"# {name}" for name in ("ann", "bo", "cy")})
    words = [*paths, "--stage", "07", "--seed", "5", "--keep", tmp_path / "kept"]
    again = [*words, "--regrade", "all", "--reason", "a test was wrong"]
    call("grade", *words)
    call("grade", *again)
    lines = tmp_path / "kept" / "results.jsonl"
    all_lines = lines.read_text().splitlines(keepends=True)
    assert len(all_lines) == 6
    lines.write_text("".join(all_lines[:4]))  # as if it had been interrupted after the first
    asked.clear()
    call("grade", *again)
    assert sorted(asked) == sorted({"ann.py", "bo.py", "cy.py"} - {
        json.loads(all_lines[3])["who"]})
    call("grade", *words, "--regrade", "all", "--reason", "another reason")
    assert len(asked) == 5


def test_a_shard_grades_every_tenth_submission(tmp_path, asked):
    paths = written(tmp_path / "class", {f"s{i:02}.py": f"# {i}" for i in range(24)})
    call("grade", *paths, "--stage", "07", "--seed", "5", "--shard", "3/10", "--keep",
         tmp_path / "part")
    assert sorted(asked) == ["s02.py", "s12.py", "s22.py"]
    assert {each.name for each in (tmp_path / "part").iterdir()} == {"results.jsonl", "class.json"}
    records = [json.loads(line) for line in
               (tmp_path / "part" / "results.jsonl").read_text().splitlines()]
    listed = (tmp_path / "part" / "class.json").read_text()
    assert all(each["key"] in listed for each in records) and len(records) == 3
    assert all(path.name in listed for path in paths)


def test_a_job_contains_the_seed(tmp_path):
    (path,) = written(tmp_path, {"ann.py": "x = 1"})
    assert "8472639401" in make_job(path, Settings((STAGE,)), 8472639401, Limits()).as_json()


def test_unpacked_submissions_return_to_their_platform_too(tmp_path, asked):
    """Moodle's and Canvas's files, from folders, from shards, and with a person's decision."""
    paths = written(tmp_path / "class", {
        "Ann Lee_12_assignsubmission_file/hw.py": "right",
        "Bo Ku_13_assignsubmission_file/hw.py": "x = 1", "leeann_14_34_hw.py": "x = 2"})
    paths = [path.parent if path.name == "hw.py" else path for path in paths]
    words = [*paths, "--stage", "07", "--seed", "5"]
    (paths[0] / f"{STAGE.key}.py").write_text("right")
    call("grade", *words, "--keep", tmp_path / "whole")
    parts = [tmp_path / f"part-{i}" for i in (1, 2)]
    for number, part in enumerate(parts, 1):
        call("grade", *words, "--shard", f"{number}/2", "--keep", part)
    merged = tmp_path / "merged"
    call("results", "merge", *parts, "--keep", merged)
    for name in ("moodle_grades.csv", "moodle_feedback.zip", "canvas_grades.csv",
                 "canvas_feedback.zip"):
        assert (merged / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    rows = list(csv.reader((merged / "moodle_grades.csv").read_text("utf-8").splitlines()))
    assert [row[:3] for row in rows[1:]] == [["Participant 12", "Ann Lee", "10"],
                                             ["Participant 13", "Bo Ku", "0"]]
    most = next(hole.points for hole in STAGE.holes if hole.id == "07.1")
    (merged / "overrides.csv").write_text(
        "submission,exercise,points,comment\n"
        f"Bo Ku_13_assignsubmission_file,07.1,{most},\nleeann_14_34_hw.py,07.1,{most},\n")
    call("results", "merge", *parts, "--keep", merged)
    rows = list(csv.reader((merged / "moodle_grades.csv").read_text("utf-8").splitlines()))
    assert rows[2][2] == str(most)
    assert str(most) in (merged / "canvas_grades.csv").read_text("utf-8").splitlines()[2]


def test_other_columns_of_a_roster_are_in_the_grades(tmp_path):
    (tmp_path / "roster.csv").write_text("id,days_late,Tutor Group\nann,3,A 7\nbo,,\n")
    report = Report("ann.py", (Grade("ann.py", STAGE.key, (HoleGrade("07.1", "t", 4, 4),)),))
    rows = list(csv.DictReader(read_roster(tmp_path / "roster.csv").as_csv([report]).splitlines()))
    assert [(row["id"], row["days_late"], row["Tutor Group"], row["points"]) for row in rows] == [
        ("ann", "3", "A 7", "4"), ("bo", "", "", "0")]


# ------------------------------------------------------------------ one submission


@pytest.mark.slow
def test_an_exercise_that_ends_the_process_is_told_to_return_or_raise(tmp_path):
    asks = "    return _state.grad_enabled.get()\n"
    (path,) = written(tmp_path, {"handin.py": SOLUTION.replace(
        asks, "    import os\n    os._exit(0)\n", 1)})
    result = grade(STAGE, take_in(path, STAGE), Sandbox("limits"))
    ended = [hole for hole in result.holes if "ends the process" in hole.diagnosis]
    assert ended and all(not hole.points for hole in ended)
    assert all("An exercise returns or raises instead" in hole.diagnosis for hole in ended)


class Passing(Sandbox):
    """A sandbox in which every test passes with a message, and no probe is answered."""

    def run(self, bundle, words, job, limits):
        ran.append((*words, (bundle / "tests").exists()))
        lines = [{"ready": True}, *({"test": f"t::test_{hole.id}", "holes": [hole.id],
                                     "outcome": "failed" if hole.id == "07.2" else "passed",
                                     "message": "E: expected 3"} for hole in STAGE.holes)]
        return Ended("".join(json.dumps(line) + "\n" for line in lines).encode(), b"", 0)


ran: list[tuple[str | bool, ...]] = []


def test_the_learner_sees_what_a_test_says():
    """The tests run first, in a process with tests; then the probes, in one without."""
    ran.clear()
    result = grade(STAGE, Submission("x", {MODULE: SOLUTION}), Passing("limits"), 5)
    assert ran[0] == ("tests", True) and ran[1] == ("probes", False)
    assert result.points == 0
    report = Report("x", (result,))
    assert "expected 3" in as_page(report) and "expected 3" in as_text(report)


def test_the_grader_runs_nothing_that_a_graded_process_wrote():
    """No module of the grader's own process unpickles, or runs a text."""
    runs = {"eval", "exec", "loads", "load", "run_path", "run_module", "import_module",
            "__import__"}
    harmless = {"json.loads", "json.load", "tomllib.loads", "tomllib.load"}
    found = []
    for folder in ("grading", "jobs"):
        for file in sorted((ROOT / "minigrad_course" / folder).glob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                if name.rpartition(".")[2] in runs and name not in harmless:
                    found.append((f"{folder}/{file.name}", name))
    in_children = {"grading/child.py", "grading/reach.py"}  # reach.py imports our own libraries
    assert {file for file, _ in found} <= in_children, found
    assert ("grading/child.py", "importlib.import_module") in found


# ------------------------------------------------------------------ numbers


def test_the_page_states_the_limits_that_the_code_has():
    limits = Limits()
    assert MAX_BYTES == 256 << 10 and PAGE.count("256 KB") == 2
    assert (budget.MEMORY, budget.SECONDS) == (2 << 30, 30)
    assert "limited to 2 GiB of memory and to 30 seconds of computing" in PAGE
    assert (export_zip.ENTRIES_OF_ONE, export_zip.OF_ONE) == (2000, 16 << 20)
    assert "more than 2,000 files or 16 MB" in PAGE
    assert f"more than {limits.processes} processes and threads" in PAGE
    assert f"more than {limits.stored_bytes >> 20} MB in files" in PAGE
    assert f"more than {limits.memory >> 30} GiB in all processes together" in PAGE
    assert f"({limits.seconds} seconds by default)" in PAGE
    assert "(by default, four times as long)" in PAGE
    assert Runs(Sandbox("limits"), Limits(seconds=7)).left == 28
    assert inspect.signature(command.grade).parameters["seconds"].default == limits.seconds
    assert f"up to {CLOSE:g} times the largest one" in PAGE
    assert sandbox.CHECK == 120 and "determine within two minutes" in PAGE
    for_workers = (limits.memory + budget.MEMORY) / 1e9  # in GB, as schedulers count
    reserved = float(re.search(r"We reserve ([\d.]+) GB for each worker", PAGE)[1])
    assert for_workers < reserved
    assert PAGE.count("13G") == 3 and PAGE.count("--workers 2") >= 3 and reserved == 13 / 2


def test_what_independent_answers_have_counts_less():
    holes = [hole for stage in stages() for hole in stage.holes
             if calibrated._read()["answers"].get(hole.id)]
    for hole in holes:
        count = calibrated._read()["answers"][hole.id]
        for feature, number in calibrated._read()["features"].get(hole.id, {}).items():
            found = calibrated.weight(hole.id, feature)
            assert found == 0 if number >= count / 2 else 0 < found < 1
        assert calibrated.weight(hole.id, "an operation that no answer uses") == 1
    without = [hole for stage in stages() for hole in stage.holes
               if hole.id not in calibrated._read()["answers"]]
    assert all(calibrated.weight(hole.id, "any") == 0 for hole in without)


def test_the_exercises_that_do_not_count_are_on_the_page():
    forced = [hole.id for stage in stages() for hole in stage.holes if hole.forced]
    assert f"({' and '.join(forced)}, which are marked `forced` in their stages)" in PAGE


def test_the_table_of_limits_is_the_code_s():
    for row in (
            f"| a whole stage with another student's | {compare.PAIR_SHARE:.0%} | "
            f"{calibrated.LEAST:.0f} operations |",
            f"| one exercise | {compare.HOLE_SHARE:.0%} | {compare.HOLE_LEAST:.0f} operations |",
            f"| {compare.SIBLING_SHARE:.0%} of its tokens | {compare.SIBLING_TOKENS} tokens |",
            f"has to share {calibrated.UNKNOWN:.0%} and {calibrated.UNKNOWN_LEAST:.0f} operations",
            f"more than {signs.TEXT} characters, or a statement with more than {signs.VALUES} "
            "values"):
        assert row in PAGE, row
    assert (calibrated.threshold("90"), calibrated.least("90")) == (
        calibrated.UNKNOWN, calibrated.UNKNOWN_LEAST)


def test_the_table_of_figures_has_every_stage():
    rows = re.findall(r"^\| (\d\d[a-e]?) \| \d+ \| (\d+)% \|", PAGE, re.MULTILINE)
    assert {stage: int(limit) / 100 for stage, limit in rows} == {
        stage.number: calibrated.threshold(stage.number) for stage in stages() if stage.holes}


def test_attacks_are_tried_on_each_sandbox():
    for name in ("forging", "harm", "hangs", "reach", "second_runs", "seeds"):
        text = (ROOT / "tests" / "hostile" / f"test_{name}.py").read_text(encoding="utf-8")
        tried = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)
                 and any("each_sandbox" in ast.unparse(each) for each in node.decorator_list)]
        assert tried and all("sandbox" in [arg.arg for arg in node.args.args] for node in tried)


def test_the_arithmetic_of_a_large_class():
    """How long 5,000 submissions take follows from the seconds that one took."""
    needed, rate, hours, minutes = map(float, re.search(
        r"one worker needed ([\d.]+) seconds of processor time .* about (\d+) submissions a "
        r"minute, and 5,000 submissions keep it busy for (\d+) hours\. Ten parts with two workers "
        r"each finish in about (\d+) minutes", PAGE).groups())
    assert round(60 / needed) == rate and round(5000 / rate / 60) == hours
    assert abs(5000 / rate / 20 - minutes) <= 0.5
