"""Rosters and regrades: whose a submission is, who is missing, and what a verdict was before."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content.stages import CourseError
from minigrad_course.grading.feedback import as_page, as_text, write_feedback
from minigrad_course.grading.grade import Grade, HoleGrade
from minigrad_course.grading.intake import labels
from minigrad_course.grading.report import Report
from minigrad_course.grading.roster import Person, Roster
from minigrad_course.grading.roster_file import read_roster
from minigrad_course.grading.writers import as_csv, as_html, as_junit
from minigrad_course.jobs.history import History
from minigrad_course.jobs.record import Record
from tests.support.jobs import graded_by

PEOPLE = [("s101", "Ann Lee", "ann.lee@uni.edu"), ("s102", "Lee, Bo", "blee@uni.edu"),
          ("s103", "Eva María Ñu", "emn@uni.edu"), ("s104", "Sam", "")]
ROSTER = Roster(("id", "name", "email"), tuple(
    Person(dict(zip(("id", "name", "email"), each, strict=True))) for each in PEOPLE))


@pytest.mark.parametrize(("name", "owner"), [
    ("s101.py", "s101"), ("S102", "s102"), ("blee.py", "s102"), ("ann.lee@uni.edu.zip", "s101"),
    ("ann.lee.py", "s101"),
    ("Ann Lee_12345_assignsubmission_file", "s101"),  # Moodle
    ("Ann Lee_12345_assignsubmission_file_", "s101"),
    ("leeann_9911_2231_handin.py", "s101"), ("leebo_LATE_9911_2231_handin-1.py", "s102"),  # Canvas
    ("Homework 3_blee_attempt_2026-11-20-10-00-00_handin.py", "s102"),  # Blackboard
    ("Eva María Ñu_7_assignsubmission_file", "s103"), ("ñuevamaría_1_2_x.py", "s103"),
    ("s104_handin.py", "s104"),
    ("sam.py", "s104"), ("Sam_7_assignsubmission_file", "s104"),  # the whole name is one word
    ("eva.py", None),  # one word of a longer name is too little
    ("lee.py", None), ("handin.py", None), ("s10.py", None), ("xs101.py", None),
    ("s101_s102.py", None),  # of two
    ("leeann_12_34_blee.py", "s101"), ("leeann_LATE_12_34_s102_s103.py", "s101"),  # Canvas
    ("leeann_12_34_blee_attempt_2026-11-20.py", "s101"),
    ("leeann_12_34_7_assignsubmission_file_blee.py", "s101"),
    ("xy_12_34_blee.py", None),  # whoever it is, the rest is the student's choice
    ("Ann Lee_7_assignsubmission_file_blee.py", "s101"),  # Moodle
    ("Ann Lee_7_assignsubmission_file_x_blee_attempt_2.py", "s101"),
    ("Homework 3_blee_attempt_2026-11-20-10-00-00_s101_attempt_1.py", "s102"),  # Blackboard
    ("handin_s104.py", None),
    ("s101/hw.py", "s101"), ("class/Ann Lee/exercises", "s101"), ("s101/s101.py", "s101"),
    ("s101/blee.py", None), ("hw/s101.py", "s101"), ("s101/hw/x.py", None),
    ("s101/leebo_12_34_s103.py", "s102"),
])
def test_the_owner_of_a_submission(name, owner):
    matched = ROSTER.match([name])
    assert [each.id for each in matched.owners.values()] == ([owner] if owner else [])
    assert bool(matched.unknown) == (owner is None)


SCRIPTS = ("李明", "李 小龙", "김민준", "山田 太郎", "Ольга Ивановна Петрова", "محمد علي",
           "अनीता देसाई", "Nguyễn Văn An", "José",
           "María del Carmen García López", "Ólafur", "สมชาย ใจดี")


@pytest.mark.parametrize("name", SCRIPTS)
def test_names_in_any_script_match(name):
    roster = Roster(("id", "name"), tuple(Person({"id": f"s{number}", "name": each})
                                          for number, each in enumerate(SCRIPTS)))
    first, *rest = re.split(r"\s+", name)
    forms = [name, "".join((*rest, first)), f"{' '.join(rest)}, {first}" if rest else name]
    paths = [made for each in forms for spelt in (each, unicodedata.normalize("NFD", each))
             for made in (f"{spelt}_12_assignsubmission_file", f"{spelt}.py", f"{spelt}/hw.py",
                          f"{re.sub('[ ,]', '', spelt)}_12_34_hw.py")]
    matched = roster.match(paths)
    assert not matched.unknown
    assert {each.row["name"] for each in matched.owners.values()} == {name}


def test_github_s_folders_end_with_a_name():
    roster = Roster(("id", "github"), (Person({"id": "a1", "github": "Ann-Lee"}),
                                       Person({"id": "a2", "github": "lee"}),
                                       Person({"id": "a3", "github": ""})))
    matched = roster.match(["hw-07-lee", "x/hw-ann-lee/handin.py", "hw-a3", "hw-07-bo"])
    assert {index: each.id for index, each in matched.owners.items()} == {0: "a2"}
    assert matched.unknown == ["x/hw-ann-lee/handin.py (could belong to a1, a2)", "hw-a3",
                               "hw-07-bo"]


def test_gradescope_s_folders_are_described_beside_them(tmp_path):
    (tmp_path / "submission_metadata.yml").write_text(
        "---\nsubmission_11:\n  :submitters:\n  - :name: Ann Lee\n    :sid: '777'\n"
        "    :email: ann.lee@uni.edu\n  :created_at: 2026-11-20 10:00:00 Z\n  :score: 1.0\n"
        "  :results:\n    :tests:\n    - :name: blee\n"
        "submission_12:\n  :submitters:\n  - :name: Bo\n    :sid: \n    :email: blee@uni.edu\n"
        "  - :name: Sam\n    :sid: s104\n    :email: ''\n"
        "submission_13:\n  :submitters:\n  - :name: Sam\n    :sid: ''\n", encoding="utf-8")
    matched = ROSTER.match([str(tmp_path / f"submission_{each}") for each in (11, 12, 13, 14)],
                           ["11", "12", "13", "14"])
    assert {index: each.id for index, each in matched.owners.items()} == {0: "s101", 2: "s104"}
    assert matched.unknown == ["12 (could belong to s102, s104)", "14"]


def test_what_does_not_fit_is_said():
    matched = ROSTER.match(["s101.py", "Ann Lee_1_assignsubmission_file", "s104.py", "x.py",
                            "s101_s102.py"])
    assert matched.findings() == [
        "missing: s102 Lee, Bo", "missing: s103 Eva María Ñu", "unknown: x.py",
        "unknown: s101_s102.py (could belong to s101, s102)",
        "several submissions of s101: s101.py, Ann Lee_1_assignsubmission_file"]


def test_a_tie_names_all_whom_it_may_be_of():
    two = Roster(("id", "name"), (Person({"id": "a1", "name": "Lee Ann"}),
                                  Person({"id": "a2", "name": "Ann Lee"})))
    matched = two.match(["leeann_12_34_x.py", "a1/a2.py"])
    assert matched.owners == {}
    assert matched.unknown == ["leeann_12_34_x.py (could belong to a1, a2)",
                               "a1/a2.py (could belong to a1, a2)"]


NASTY = "s101\x1b[2J\u202eyp.\u2066\n\r\x9b=.py"


def test_names_can_neither_move_a_cursor_nor_turn_the_direction():
    person = Person({"id": "s1", "name": "=1+1\x1b[2J\u202e", "email": "\t=x"})
    roster = Roster(("id", "name", "email"), (person,))
    given = [report(NASTY, 4)]
    shown = [roster.as_csv(given), as_csv(given), as_html(given), as_junit(given),
             as_page(given[0]), as_text(given[0]), *roster.match([NASTY]).findings()]
    for text in shown:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    row = next(csv.DictReader(io.StringIO(shown[0])))
    assert row["name"] == "'=1+1?[2J?" and row["email"] == "?=x"


def report(name: str, points: int) -> Report:
    hole = HoleGrade("07.1", "title", points, 4, "" if points else "wrong")
    return Report(name, (Grade(name, "07_x", (hole,)),))


def test_the_rosters_columns_are_carried():
    reports = [report("s101.py", 4), report("x.py", 0), report("s102.py", 0), report("blee.py", 4)]
    rows = list(csv.DictReader(io.StringIO(ROSTER.as_csv(reports))))
    assert [(row["id"], row["name"], row["submission"], row["points"], row["max_points"],
             row["07.1"], row["note"]) for row in rows] == [
        ("s101", "Ann Lee", "s101.py", "4", "4", "4", ""),
        ("s102", "Lee, Bo", "s102.py", "0", "4", "0", "several submissions"),
        ("s102", "Lee, Bo", "blee.py", "4", "4", "4", "several submissions"),
        ("s103", "Eva María Ñu", "", "0", "4", "", "no submission"),
        ("s104", "Sam", "", "0", "4", "", "no submission"),
        ("", "", "x.py", "0", "4", "0", "not on the roster")]


@pytest.mark.parametrize("text", [
    "id,name,email\ns1,Ann,a@b\n", "ID;Name;E-Mail\r\ns1;Ann;a@b\r\n", "\ufeffid\tgroup\ns1\t7\n\n",
    'Student ID,"Full name"\ns1,"Lee, Ann"\n',
])
def test_rosters_as_they_come(tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8", newline="")
    (person,) = read_roster(path).people
    assert person.id == "s1"
    assert ROSTER.as_csv([]).startswith("id,name,email,submission,points,max_points,note\n")


#: A roster as each platform exports it, and whose each submission is.
PLATFORMS = {
    "Moodle's participants": (
        "First name,Last name,ID number,Email address,Groups\nAnn,Lee,s1,ann@uni.edu,A\n"
        "李明,,,li@uni.edu,A\nJosé,García López,s3,jose@uni.edu,B\n",
        {"Ann Lee_12_assignsubmission_file": "s1", "李明_13_assignsubmission_file_": "li@uni.edu",
         "José García López_14_assignsubmission_onlinetext": "s3"}),
    "Moodle's grading worksheet": (
        "Identifier,Full name,Email address,Status,Grade\nParticipant 12,Ann Lee,ann@uni.edu,"
        "Submitted for grading,\nParticipant 13,李明,li@uni.edu,No submission,\n",
        {"Ann Lee_12_assignsubmission_file": "Participant 12",
         "李明_13_assignsubmission_file": "Participant 13"}),
    "Canvas's gradebook": (
        "Student,ID,SIS User ID,SIS Login ID,Section,HW 1 (77)\n    Points Possible,,,,,10.0\n"
        '"Lee, Ann",501,u1,alee,"A, B",\n李明,502,u2,lming,A,9\n"Student, Test",599,,x7,A,\n',
        {"leeann_501_9_hw.py": "501", "李明_LATE_502_8_hw.py": "502", "lming/hw.py": "502",
         "alee.py": "501"}),
    "Gradescope's roster": (
        "First Name,Last Name,SID,Email,Role,Sections\nAnn,Lee,s1,ann@uni.edu,Student,\n"
        "Prince,,,prince@uni.edu,Student,\n",
        {"Ann_Lee.py": "s1", "prince.py": "prince@uni.edu", "s1_hw.py": "s1"}),
    "GitHub Classroom's roster": (
        '"identifier","github_username","github_id","name"\n"s1","Ann-Lee","1","Ann Lee"\n'
        '"s2","lm","2","李明"\n"s3","","",""\n',
        {"hw-03-ann-lee": "s1", "hw-03-lm": "s2", "s3.py": "s3", "李明.py": "s2"}),
    "Blackboard's list": (
        "Last Name,First Name,Username,Student ID\nLee,Ann,alee,s1\n",
        {"Homework 3_alee_attempt_2026-11-20-10-00-00_hw.py": "s1"}),
}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_rosters_that_platforms_export(tmp_path, platform):
    text, owners = PLATFORMS[platform]
    path = tmp_path / "roster.csv"
    path.write_text("\ufeff" + text, encoding="utf-8", newline="")
    roster = read_roster(path)
    matched = roster.match([*owners])
    assert not matched.unknown
    assert [each.id for _, each in sorted(matched.owners.items())] == [*owners.values()]
    assert {each.id for each in roster.people} == set(owners.values())
    first, *_ = csv.reader(io.StringIO(text))
    assert len(roster.columns) == len(first)
    assert "Section" not in first or "Section" in roster.columns


@pytest.mark.parametrize(("content", "told"), [
    (b"", "including id or email, but it is empty"),
    (b"name,group\nAnn,x\n", "including id or email, but it is name, group"),
    (b"id,id\n1,2\n", "each column once"),
    (b"id,name\n1,Ann\n1,Bo\n", "line 3: the id '1' appears twice"),
    (b"id,name\n,Ann\n", "line 2: expected 2 cells and an id"), (b"id,name\n1\n", "line 2"),
    (b"id,name\n1,\xff\n", "is not UTF-8"),
])
def test_what_is_no_roster_is_told(tmp_path, content, told):
    path = tmp_path / "roster.csv"
    path.write_bytes(content)
    with pytest.raises(CourseError) as raised:
        read_roster(path)
    assert told in str(raised.value)
    with pytest.raises(CourseError, match="No such file"):
        read_roster(tmp_path / "none.csv")


@pytest.fixture
def graded(monkeypatch):
    """Grading by what stands in a file, and which submissions it was asked for."""
    asked: list[str] = []

    def grader(stage, submission, sandbox, seed, limits):
        asked.append(submission.name)
        return report(submission.name, verdict["points"]).grades[0]

    verdict = {"points": 0}
    graded_by(grader, monkeypatch)
    return asked, verdict


def call(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["grade", *words])
    assert result.exit_code == code, result.output
    return result.output


def test_equal_names_stay_apart(tmp_path, graded):
    for name in ("ann", "bo"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "hw.py").write_text("pass\n")
    (tmp_path / "roster.csv").write_text("id\nann\nbo\n")
    words = [str(tmp_path / "ann" / "hw.py"), str(tmp_path / "bo" / "hw.py"), "--stage", "07",
             "--format", "csv", "--keep", str(tmp_path / "kept")]
    output = call(*words)
    assert "ann/hw.py,0,4" in output and "bo/hw.py,0,4" in output
    output = call(*words, "--roster", str(tmp_path / "roster.csv"))
    assert "ann,ann/hw.py,0,4,0,\n" in output and "bo,bo/hw.py,0,4,0,\n" in output
    feedback = tmp_path / "kept" / "feedback"
    assert {each.name for each in feedback.iterdir()} >= {"ann.html", "ann.txt", "bo.html",
                                                          "bo.txt"}
    assert "ann/hw.py: 0 of 4 points" in (feedback / "ann.txt").read_text()


def test_labels_are_as_short_as_can_be():
    names = ["a/x/hw.py", "b/x/hw.py", "b/y/hw.py", "z.py"]
    assert labels([Path(each) for each in names]) == ["a/x/hw.py", "b/x/hw.py", "y/hw.py", "z.py"]
    assert labels([Path("."), Path("z.py")]) == [Path.cwd().name, "z.py"]


def test_feedback_has_a_file_for_each(tmp_path):
    names = ["../x", "x", "X", "", "a/../../b", "x\x1b"]
    write_feedback(tmp_path / "f", [report("n", 0) for _ in names], dict(enumerate(names)))
    assert sorted(each.name for each in tmp_path.rglob("*.txt")) == [
        "X-3.txt", "a_.._.._b.txt", "submission.txt", "x-2.txt", "x-4.txt", "x.txt"]
    text = (tmp_path / "f" / "x.txt").read_text()
    assert text == "n: 0 of 4 points\n\n07.1 title: 0 of 4\n    wrong\n"


def test_a_regrade_keeps_what_was(tmp_path, graded):
    asked, verdict = graded
    paths = [tmp_path / f"{name}.py" for name in ("s101", "s102", "new")]
    for path in paths:
        path.write_text(f"# {path.name}\n")
    kept = tmp_path / "kept"
    (tmp_path / "roster.csv").write_text("id,name\ns101,Ann\ns102,Bo\ns103,Cy\n")
    words = [*map(str, paths), "--stage", "07", "--keep", str(kept), "--roster",
             str(tmp_path / "roster.csv"), "--format", "csv"]

    def points(output: str) -> dict[str, str]:
        rows = csv.DictReader(io.StringIO(output[output.index("id,name"):]))
        return {row["submission"]: row["points"] for row in rows}

    output = call(*words)
    assert points(output) == {"s101.py": "0", "s102.py": "0", "new.py": "0", "": "0"}
    assert "missing: s103 Cy" in output and "unknown: new.py" in output
    verdict["points"] = 4
    assert points(call(*words)) == {"s101.py": "0", "s102.py": "0", "new.py": "0", "": "0"}
    assert asked == ["s101.py", "s102.py", "new.py"]

    output = call(*words, "--regrade", "s102.py", "--reason", "a test was wrong")
    assert points(output) == {"s101.py": "0", "s102.py": "4", "new.py": "0", "": "0"}
    assert "regraded: s102.py: 0 -> 4" in output and asked[3:] == ["s102.py"]
    assert points(call(*words))["s102.py"] == "4"  # the new verdict holds from now on

    call(*words, "--regrade", "all", "--reason", "all again")
    assert asked[4:] == ["s101.py", "s102.py", "new.py"]
    lines = [json.loads(line) for line in (kept / "results.jsonl").read_text().splitlines()]
    assert [(line["report"]["submission"], line["report"]["points"], line["reason"])
            for line in lines] == [
        ("s101.py", 0, ""), ("s102.py", 0, ""), ("new.py", 0, ""),
        ("s102.py", 4, "a test was wrong"), ("s101.py", 4, "all again"),
        ("s102.py", 4, "all again"), ("new.py", 4, "all again")]
    assert all(line["when"].endswith("UTC") and line["minigrad"] for line in lines)
    assert (kept / "grades.csv").read_text().startswith("id,name,submission")


def test_the_last_verdict_of_each_key_counts(tmp_path):
    history = History(tmp_path / "results.jsonl")
    for name, points, reason in (("a", 0, ""), ("b", 0, ""), ("a", 4, "mended")):
        history.add(f"{name}.py", Record(f"key of {name}", report(f"{name}.py", points)), reason)
    known = history.known()
    assert {key: (entry.record.report.points, entry.reason) for key, entry in known.items()} == {
        ("key of a", "a.py"): (4, "mended"), ("key of a", ""): (4, "mended"),
        ("key of b", "b.py"): (0, ""), ("key of b", ""): (0, "")}
    ((before, after),) = history.changes("mended")
    assert (before.record.report.points, after.record.report.points) == (0, 4)


@pytest.mark.parametrize(("words", "told"), [
    (["--regrade", "all"], "need each other"), (["--reason", "x"], "need each other"),
    (["--regrade", "all", "--reason", "x"], "needs --keep"),
    (["--regrade", "b.py", "--reason", "x", "--keep", "kept"], "no such submission was named"),
    (["--roster", "none.csv"], "No such file"),
])
def test_what_cannot_be_done_is_told(tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("pass\n")
    assert told in call("a.py", "--stage", "07", *words, code=2)
