"""The archive that a platform exports: unpacked safely, graded, and returned to the platform."""

from __future__ import annotations

import csv
import io
import stat
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content.plain_text import MAX_BYTES
from minigrad_course.content.stages import CourseError, find_stage
from minigrad_course.grading import export_zip
from minigrad_course.grading.export_zip import submissions
from tests.support.jobs import graded_by, right_if_it_says_so

STAGES = (find_stage("07"), find_stage("03"))
ONE_FILE, FOLDER = (next(iter(stage.modules)) for stage in STAGES)


def packed(entries: dict[str, str | bytes] | list[tuple[zipfile.ZipInfo | str, bytes]]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items() if isinstance(entries, dict) else entries:
            archive.writestr(name, text)
    return data.getvalue()


def unpacked(tmp_path: Path, data: bytes) -> tuple[dict[str, str], list[str]]:
    """Return the texts in each submission of an archive, by path, and the findings."""
    (tmp_path / "export.zip").write_bytes(data)
    with submissions([tmp_path / "export.zip"], STAGES) as found:
        folder = found.paths[0].parent
        folder = folder if folder.name == "export" else folder.parent
        assert sorted(path.name for path in tmp_path.iterdir()) == ["export.zip"]
        texts = {}
        for path in found.paths:
            files = [path] if path.is_file() else sorted(
                each for each in path.rglob("*") if each.is_file())
            assert not any(each.is_symlink() for each in files)
            texts |= {each.relative_to(folder).as_posix(): each.read_text() for each in files}
        assert {path.name for path in folder.rglob("*") if path.is_file()} - {
            "submission_metadata.yml"} == {Path(each).name for each in texts}
    assert not folder.exists()
    return texts, found.findings


WORKSPACE = {f"engine/exercises/{STAGES[1].exercise(FOLDER, Path()).as_posix()}": "x = 3",
             "engine/README.md": "mine"}
INSIDE = STAGES[1].exercise(FOLDER, Path()).as_posix()
MOODLE = "Ann Lee_12_assignsubmission_file"
LAYOUTS = {
    "Moodle, a file": ({f"{MOODLE}/hw.py": "x = 1"}, {f"{MOODLE}_hw.py": "x = 1"}),
    "Moodle before 4.1": ({f"{MOODLE}_/hw.py": "x = 1"}, {f"{MOODLE}_hw.py": "x = 1"}),
    "Moodle without folders": ({f"{MOODLE}_hw.py": "x = 1"}, {f"{MOODLE}_hw.py": "x = 1"}),
    "Moodle, a notebook": ({f"{MOODLE}/hw.ipynb": "{}"}, {f"{MOODLE}_hw.ipynb": ""}),
    "Moodle, folders": ({f"{MOODLE}/exercises/{INSIDE}": "x = 2", f"{MOODLE}/note.txt": "hi"},
                        {f"{MOODLE}/exercises/{INSIDE}": "x = 2", f"{MOODLE}/note.txt": ""}),
    "Moodle, an archive": ({f"{MOODLE}/w.zip": packed(WORKSPACE)},
                           {f"{MOODLE}/README.md": "", f"{MOODLE}/exercises/{INSIDE}": "x = 3"}),
    "Canvas, a file": ({"leeann_LATE_12_34_hw-1.py": "x = 1"},
                       {"leeann_LATE_12_34_hw-1.py": "x = 1"}),
    "Canvas, an archive": ({"leeann_12_34_w.zip": packed(WORKSPACE)},
                           {"leeann_12_34_w.zip/README.md": "",
                            f"leeann_12_34_w.zip/exercises/{INSIDE}": "x = 3"}),
    "Canvas, several files": ({f"leeann_12_34_{Path(INSIDE).stem}-2.py": "x = 4",
                               "leeann_12_35_b.py": "x = 5"},
                              {f"leeann_12_34_{Path(INSIDE).stem}-2.py/{INSIDE}": "x = 4",
                               f"leeann_12_34_{Path(INSIDE).stem}-2.py/b.py": "x = 5"}),
    "Gradescope": ({"assignment_9_export/submission_5/hw.py": "x = 1",
                    "assignment_9_export/submission_6/a.py": "", "assignment_9_export/"
                    "submission_6/b.py": "", "assignment_9_export/submission_metadata.yml": "a:"},
                   {"submission_5/hw.py": "x = 1", "submission_6/a.py": "",
                    "submission_6/b.py": ""}),
    "GitHub Classroom": ({f"hw-3-submissions/hw-3-ann/{INSIDE}": "x = 1",
                          "hw-3-submissions/hw-3-ann/README.md": "r",
                          "hw-3-submissions/hw-3-ann/.git/config": "url"},
                         {f"hw-3-ann/{INSIDE}": "x = 1", "hw-3-ann/README.md": ""}),
    "from macOS": ({f"{MOODLE}/hw.py": "x = 1", "__MACOSX/._hw.py": "?"},
                   {f"{MOODLE}_hw.py": "x = 1"}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_platform_s_archive_has_its_submissions(layout, tmp_path):
    entries, wanted = LAYOUTS[layout]
    assert unpacked(tmp_path, packed(entries)) == (wanted, [])


def test_a_name_that_a_student_chose_does_not_change_the_layout(tmp_path):
    entries = {f"s{i}_{i}_{i}_hw.py": "" for i in range(1, 4)}
    entries["leeann_12_34_x_7_assignsubmission_file_y.py"] = ""
    assert unpacked(tmp_path, packed(entries))[0].keys() == entries.keys()


@pytest.mark.parametrize("paths", [["notes.zip"], ["export.zip", "export.zip"]])
def test_another_archive_is_a_submission(paths, tmp_path):
    (tmp_path / "notes.zip").write_bytes(packed({"hw.py": "x = 1"}))
    (tmp_path / "export.zip").write_bytes(packed({f"{MOODLE}/hw.py": "x = 1"}))
    named = [tmp_path / each for each in paths]
    with submissions(named, STAGES) as found:
        assert found.paths == named


def special(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


@pytest.mark.parametrize("name", ["../hw.py", f"{MOODLE}/../../hw.py", "/etc/hw.py",
                                  "C:/hw.py", f"{MOODLE}/a/../hw.py"])
def test_an_entry_that_leads_elsewhere_is_named(name, tmp_path):
    with pytest.raises(CourseError, match="leads out of the archive's folder") as error:
        unpacked(tmp_path, packed({f"{MOODLE}/x.py": "", name: "x = 1"}))
    assert repr(name) in str(error.value)


def test_a_damaged_archive_is_named(tmp_path):
    with pytest.raises(CourseError, match=r"export\.zip is not a readable ZIP archive"):
        unpacked(tmp_path, b"PK\x03\x04 nothing")


def damaged(name: str) -> bytes:
    """Return an archive whose second entry has another text than its checksum says."""
    with zipfile.ZipFile(data := io.BytesIO(), "w") as archive:
        archive.writestr(f"{MOODLE}/hw.py", "x = 1")
        archive.writestr(name, "here is a text")
    return data.getvalue().replace(b"here is", b"HERE IS")


def declared(name: str, text: bytes, size: int) -> bytes:
    """Return an archive whose second entry is said to be small."""
    data = packed({f"{MOODLE}/hw.py": "x = 1", name: text})
    return data.replace(len(text).to_bytes(4, "little"), size.to_bytes(4, "little"))


BAD = f"{MOODLE}/bad.py"
HARM = {
    "a link": (packed([(f"{MOODLE}/hw.py", b"x = 1"), (special(BAD, stat.S_IFLNK | 0o777),
                                                     b"/etc/passwd")]), "is a link"),
    "a device": (packed([(f"{MOODLE}/hw.py", b"x = 1"), (special(BAD, stat.S_IFCHR), b"")]),
                 "is a special file"),
    "a large text": (packed({f"{MOODLE}/hw.py": "x = 1", BAD: "#" * (MAX_BYTES + 1)}),
                     f"has {MAX_BYTES + 1} bytes; the limit is {MAX_BYTES}"),
    "a bomb": (packed({f"{MOODLE}/hw.py": "x = 1", BAD: bytes(50 << 20)}),
               f"has {50 << 20} bytes; the limit is {MAX_BYTES}"),
    "a false size": (declared(BAD, bytes(5 << 20), 7), "cannot be unpacked: Bad CRC-32"),
    "a damaged text": (damaged(BAD), "cannot be unpacked: Bad CRC-32"),
    "hidden characters": (packed({f"{MOODLE}/hw.py": "x = 1", f"{MOODLE}/\u202ebad.py": ""}),
                          "backslash or hidden characters"),
    "a backslash": (packed({f"{MOODLE}/hw.py": "x = 1", f"{MOODLE}\\bad.py": ""}),
                    "backslash or hidden characters"),
    "a deep folder": (packed({f"{MOODLE}/hw.py": "x = 1", f"{MOODLE}/{'a/' * 30}bad.py": ""}),
                      "more than 1000 bytes or 20 folders"),
}


@pytest.mark.parametrize("harm", HARM)
def test_an_entry_that_harms_is_left_out_and_named(harm, tmp_path):
    data, why = HARM[harm]
    texts, (finding,) = unpacked(tmp_path, data)
    assert set(texts.values()) == {"x = 1"}
    assert "bad.py" in finding
    assert why in finding


@pytest.mark.parametrize("inner", [packed({"../hw.py": "x = 1"}), b"no archive",
                                   bytes(export_zip.PACKED + 1)], ids=["out", "none", "large"])
def test_a_student_s_own_archive_that_is_refused_stays_packed(inner, tmp_path):
    texts, (finding,) = unpacked(tmp_path, packed({f"{MOODLE}/w.zip": inner}))
    assert texts == {f"{MOODLE}/w.zip": ""}
    assert f"{MOODLE}/w.zip was left packed" in finding


def test_all_texts_together_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(export_zip, "OF_ONE", 10)
    texts, findings = unpacked(tmp_path, packed({f"{MOODLE}/{i}.py": "x = 1" for i in range(3)}))
    assert len(texts) == 2
    assert f"{MOODLE}/2.py has 5 bytes; the limit is 0" in findings[0]
    monkeypatch.setattr(export_zip, "OF_ALL", 9)
    with pytest.raises(CourseError, match="more than 9 bytes"):
        unpacked(tmp_path, packed({f"{MOODLE}/{i}.py": "x = 1" for i in range(3)}))
    monkeypatch.setattr(export_zip, "ENTRIES_OF_ONE", 1)
    assert "the limit for one submission is 1" in unpacked(
        tmp_path, packed({f"{MOODLE}/{i}.py": "x = 1" for i in range(3)}))[1][0]
    monkeypatch.setattr(export_zip, "ENTRIES", 2)
    with pytest.raises(CourseError, match="has 3 entries; the limit is 2"):
        unpacked(tmp_path, packed({f"{MOODLE}/{i}.py": "x = 1" for i in range(3)}))


def call(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(each) for each in words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def graded(tmp_path, monkeypatch):
    """Grade an archive: the first exercise is right in texts that say so."""
    graded_by(right_if_it_says_so, monkeypatch)
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")

    def run(entries: dict[str, str], *words: str | Path) -> Path:
        (tmp_path / "export.zip").write_bytes(packed(entries))
        call("grade", tmp_path / "export.zip", "--stage", "07", "--seed", "5", "--format", "csv",
             "--keep", tmp_path / "results", *words)
        return tmp_path / "results"

    return run


def rows(file: Path) -> list[list[str]]:
    return list(csv.reader(file.read_text(encoding="utf-8").splitlines()))


def test_feedback_returns_to_moodle(graded, tmp_path):
    (tmp_path / "roster.csv").write_text("id,name\ns1,Ann Lee\ns2,Bo Ku\n")
    entries = {f"{MOODLE}/hw.py": "right", "Bo Ku_13_assignsubmission_file/hw.py": "x = 1"}
    keep = graded(entries, "--roster", tmp_path / "roster.csv")
    head, ann, bo = rows(keep / "moodle_grades.csv")
    assert head == ["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)",
                    "Feedback comments"]
    assert ann[:5] == ["Participant 12", "Ann Lee", "10", "10", "-"]
    assert bo[:5] == ["Participant 13", "Bo Ku", "0", "10", "-"]
    assert "07.1: 0 of" in bo[5]
    with zipfile.ZipFile(keep / "moodle_feedback.zip") as archive:
        assert archive.namelist() == [f"{MOODLE}_/feedback.html",
                                      "Bo Ku_13_assignsubmission_file_/feedback.html"]
        assert b"10 of 10 points" in archive.read(f"{MOODLE}_/feedback.html")
    assert [each[:4] for each in rows(keep / "grades.csv")[1:]] == [
        ["s1", "Ann Lee", f"{MOODLE}_hw.py", "10"],
        ["s2", "Bo Ku", "Bo Ku_13_assignsubmission_file_hw.py", "0"]]
    assert not (keep / "canvas_grades.csv").exists()


def test_feedback_returns_to_canvas(graded):
    keep = graded({"leeann_12_34_hw.py": "right", "kubo_LATE_13_35_hw-1.py": "x = 1"})
    head, possible, *students = rows(keep / "canvas_grades.csv")
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "minigrad"]
    assert possible == ["Points Possible", "", "", "", "", "10"]
    assert sorted(students) == [["kubo", "13", "", "", "", "0"], ["leeann", "12", "", "", "", "10"]]
    with zipfile.ZipFile(keep / "canvas_feedback.zip") as archive:
        assert sorted(archive.namelist()) == ["kubo_LATE_13_35_hw-1.py.html",
                                              "leeann_12_34_hw.py.html"]
    assert not (keep / "moodle_grades.csv").exists()


def test_a_student_with_several_submissions_has_feedback_but_no_grade(graded):
    keep = graded({f"{MOODLE}_a/hw.py": "right", f"{MOODLE}_b/hw.py": "x = 1"})
    assert len(rows(keep / "moodle_grades.csv")) == 1
    with zipfile.ZipFile(keep / "moodle_feedback.zip") as archive:
        assert len(set(archive.namelist())) == 2


def test_a_resumed_archive_keeps_its_verdicts(graded, tmp_path):
    entries = {f"{MOODLE}/hw.py": "right"}
    keep = graded(entries)
    before = {name: (keep / name).read_bytes() for name in (
        "results.jsonl", "grades.csv", "moodle_feedback.zip", "moodle_grades.csv")}
    graded(entries)
    assert before == {name: (keep / name).read_bytes() for name in before}


def test_the_archive_is_compared_too(tmp_path):
    solution = STAGES[0].solution(ONE_FILE).read_text(encoding="utf-8")
    (tmp_path / "export.zip").write_bytes(packed({f"{MOODLE}/hw.py": solution}))
    shown = call("similarity", tmp_path / "export.zip", "--stage", "07", "--format", "csv")
    assert f"{MOODLE}_hw.py" in shown
