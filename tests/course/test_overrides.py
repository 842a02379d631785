"""A person's decisions: they survive a regrade and are shown as decisions."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content.stages import find_stage
from tests.support.jobs import graded_by, right_if_it_says_so

STAGE = find_stage("07")
HEAD = "submission,exercise,points,comment\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A class of three, whose answers are right if they say so; and its roster and course."""
    graded_by(right_if_it_says_so, monkeypatch)
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")
    for name, text in (("ann.py", "right"), ("bo.py", "x = 1"), ("a/hw.py", "x"), ("b/hw.py", "y")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "roster.csv").write_text("id,name\ns1,Ann\ns2,Bo\n")
    (tmp_path / "course.toml").write_text('stages = ["07"]\nseed = 5\n[weights]\n"07.1" = 9\n')
    (tmp_path / "results").mkdir()
    return tmp_path


def grade(folder: Path, *words: str, code: int = 0, keep: str = "results") -> str:
    result = CliRunner().invoke(app, [
        "grade", *(str(folder / name) for name in ("ann.py", "bo.py", "a/hw.py", "b/hw.py")),
        "--course", str(folder / "course.toml"), "--roster", str(folder / "roster.csv"),
        "--keep", str(folder / keep), *words])
    assert result.exit_code == code, result.output
    return result.output


def table(folder: Path) -> dict[str, dict[str, str]]:
    with open(folder / "results" / "grades.csv", encoding="utf-8") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


def decide(folder: Path, text: str) -> None:
    (folder / "results" / "overrides.csv").write_text(text, encoding="utf-8")


def test_a_decision_counts_and_is_shown_as_one(folder):
    before = grade(folder) and table(folder)
    assert "decided by a person" not in before["ann.py"]
    decide(folder, HEAD + 'bo.py,07.1,7,"=the idea, is right"\ns1,07.2,0,talked\n'
           "ann.py,,,well <done\n")
    shown = grade(folder)
    after = table(folder)
    assert after["bo.py"]["points"] == after["bo.py"]["07.1"] == "7"
    assert after["bo.py"]["decided by a person"] == \
        "07.1: 7 points instead of 0: =the idea, is right"
    most = next(hole.points for hole in STAGE.holes if hole.id == "07.2")
    assert int(before["ann.py"]["points"]) - int(after["ann.py"]["points"]) == most
    assert after["ann.py"]["decided by a person"] == \
        f"07.2: 0 points instead of {most}: talked; well <done"
    assert after["a/hw.py"]["decided by a person"] == ""
    assert "decided by a person: bo.py, 07.1: 7 points instead of 0" in shown
    page, text = ((folder / "results" / "feedback" / f"s1.{ending}").read_text()
                  for ending in ("html", "txt"))
    for each in (page, text):
        assert f"A person decided: 0 points instead of {most}: talked" in each
    assert "A person commented: well &lt;done" in page
    assert "A person commented: well <done" in text
    assert "A person decided: 7 points instead of 0" in \
        (folder / "results" / "grades.html").read_text()


def test_a_decision_survives_a_regrade_and_the_record_keeps_the_verdict(folder):
    decide(folder, HEAD + "bo.py,07.1,7,\n")
    grade(folder)
    lines = (folder / "results" / "results.jsonl").read_bytes()
    assert b"instead of" not in lines
    grade(folder, "--regrade", "all", "--reason", "a test")
    assert table(folder)["bo.py"]["07.1"] == "7"
    (folder / "bo.py").write_text("right")  # a later version of the submission
    grade(folder)
    assert table(folder)["bo.py"]["decided by a person"] == "07.1: 7 points instead of 9"


def test_a_class_in_shards_has_the_same_decisions(folder):
    decide(folder, HEAD + "s2,07.1,7,\nhw.py,,,hello\n".replace("hw.py", "a/hw.py"))
    grade(folder)
    whole = (folder / "results" / "grades.csv").read_bytes()
    runner = CliRunner()
    for part in "12":
        result = runner.invoke(app, [
            "grade", *(str(folder / name) for name in ("ann.py", "bo.py", "a/hw.py", "b/hw.py")),
            "--course", str(folder / "course.toml"), "--shard", f"{part}/2", "--keep",
            str(folder / part)])
        assert result.exit_code == 0, result.output
    merged = folder / "merged"
    merged.mkdir()
    (merged / "overrides.csv").write_bytes((folder / "results" / "overrides.csv").read_bytes())
    result = runner.invoke(app, ["results", "merge", str(folder / "1"), str(folder / "2"), "--keep",
                                 str(merged), "--roster", str(folder / "roster.csv")])
    assert result.exit_code == 0, result.output
    assert (merged / "grades.csv").read_bytes() == whole
    assert "decided by a person: bo.py, 07.1: 7 points instead of 0" in result.output


WRONG = {
    "anne.py,07.1,1,": "line 2: there is no submission 'anne.py'; did you mean 'ann.py'?",
    "hw.py,07.1,1,": "line 2: 'hw.py' could be a/hw.py, b/hw.py; use one of these names",
    ",07.1,1,x": "line 2: the submission is missing",
    "bo.py,7.1,1,": "line 2: there is no exercise '7.1'; the exercises are 07.1, 07.2",
    "bo.py,07.1,10,": "line 2: points for 07.1 must be a whole number from 0 to 9, not '10'",
    "bo.py,07.1,-1,": "from 0 to 9, not '-1'",
    "bo.py,07.1,0.5,": "from 0 to 9, not '0.5'",
    "bo.py,07.1,\u0663,": "from 0 to 9, not '\u0663'",
    "bo.py,07.1,,": "line 2: points or a comment must be given",
    "bo.py,,5,": "line 2: points need an exercise, such as 07.1",
    "bo.py,07.1,1,a,b": "line 2: expected 4 cells, but there are 5; put a comment that contains a "
                        "comma in quotes",
    "bo.py,07.1,1,\nbo.py,07.1,2,": "line 3: 'bo.py' has another line for 07.1; keep one",
    "bo.py,07.1,1,\ns2,07.1,2,": "line 3: the submission has another line for 07.1; keep one",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_named_before_anything_is_graded(line, folder):
    decide(folder, HEAD + line + "\n")
    assert WRONG[line] in grade(folder, code=2)
    assert not (folder / "results" / "results.jsonl").exists()


@pytest.mark.parametrize(("text", "why"), [
    ("", "the first line must be submission,exercise,points,comment, but it is empty"),
    ("submission,points\n", "but it is submission,points"),
    (HEAD.encode("utf-16"), "is not UTF-8"),
], ids=["empty", "columns", "encoding"])
def test_a_file_that_is_no_table_is_named(text, why, folder):
    (folder / "results" / "overrides.csv").write_bytes(
        text if isinstance(text, bytes) else text.encode())
    assert why in grade(folder, code=2)


def test_a_spreadsheet_s_form_is_read(folder):
    decide(folder, "\ufeff" + HEAD.replace(",", ";") + '\nbo.py;07.1;7;"two\nlines"\n')
    assert "7 points instead of 0: two?lines" in grade(folder)
