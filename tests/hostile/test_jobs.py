"""Texts that end or slow whoever reads them: each becomes a record, and the class goes on."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content import stages as course
from minigrad_course.grading.process import Limits
from minigrad_course.grading.settings import Settings
from minigrad_course.grading.ungraded import NOT_GRADED, could_not
from minigrad_course.jobs import limited, reader
from minigrad_course.jobs.job import Job, files_of, make_job
from minigrad_course.jobs.record import Record
from minigrad_course.jobs.work import NOT_READ
from tests.support.attacks import MODULE, SOLUTION, STAGE, STUB, check_reports
from tests.support.bad_child import ENDINGS
from tests.support.jobs import done
from tests.support.slow import slow_but

BODY = "    return _state.grad_enabled.get()\n"
CHAIN = "def chain(x):\n    if x == 0:\n        return 0\n" + "".join(
    f"    elif x == {i}:\n        return {i}\n" for i in range(1, 2500))


def deep(opening: str, closing: str, times: int) -> str:
    return f"\nx = {opening * times}1{closing * times}\n"


#: Texts and the points that they get: what is wrong with a text costs what is wrong in it.
TEXTS = {
    "an elif chain of 250 branches": (SOLUTION + "\n" + "".join(
        CHAIN.splitlines(keepends=True)[:3 + 2 * 249]), 10),
    "an elif chain of 2,500 branches": (f"{SOLUTION}\n{CHAIN}", 10),
    "2,500 additions": (f"{SOLUTION}\nx = 1{' + 1' * 2500}\n", 10),
    "2,500 additions in an answer": (SOLUTION.replace(
        BODY, BODY.rstrip() + " and True" + " + 1" * 2500 + "\n", 1), None),
    "5,000 additions": (f"{SOLUTION}\nx = 1{' + 1' * 5000}\n", None),
    "100,000 parentheses": (SOLUTION + deep("(", ")", 100_000), 10),
    "180 parentheses": (SOLUTION + deep("(", ")", 180), 10),
    "100,000 signs": (SOLUTION + deep("-", "", 100_000), 0),
    "90 nested blocks": (SOLUTION + "\n" + "".join(
        f"{' ' * i}if 1:\n" for i in range(90)) + " " * 90 + "pass\n", 10),
    "90 nested functions": (SOLUTION + "\n" + "".join(
        f"{' ' * i}def f():\n" for i in range(90)) + " " * 90 + "pass\n", 10),
    "256 KB of calls": (SOLUTION + "\nlen('')" * 31_000, 10),
    "256 KB of names": (SOLUTION + "".join(f"\nx{i} = 0" for i in range(22_000)), 10),
    "256 KB of values": (f"{SOLUTION}\nx = [{'1,' * 120_000}]\n", 10),
    "256 KB of lambdas": (f"{SOLUTION}\nx = {'lambda:' * 30_000}0\n", 0),
    "256 KB of lines": (SOLUTION + "\n" * 240_000, 10),
    "256 KB that is not Python": (SOLUTION + "\ndef (:" * 35_000, None),
}
SECONDS = 60


@pytest.mark.parametrize("name", slow_but(2, TEXTS))
def test_a_text_becomes_a_record(name, tmp_path):
    text, points = TEXTS[name]
    path = tmp_path / "handin.py"
    path.write_text(text)
    assert path.stat().st_size <= 256 * 1024
    record = Record.from_json(done(path, Settings((STAGE,)), "limits", 5, Limits(seconds=SECONDS)))
    assert not could_not(record.report), record
    assert points is None or record.report.points == points, record
    assert not any("does nothing" in found for found in record.look)
    for hole in record.report.holes:
        assert bool(hole.reason) != bool(hole.points)
        assert "Traceback" not in hole.reason and "Error(" not in hole.reason
    check_reports(record.report)


@pytest.mark.parametrize("ending", slow_but(4, ENDINGS))
def test_however_a_process_ends_its_job_ends_with_a_reason(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(limited, "CHILD", "tests.support.bad_child")
    path = tmp_path / ending
    path.write_text(STUB)
    two = Settings((STAGE, course.find_stage("08")))
    record = Record.from_json(done(path, two, "limits", 5, Limits(seconds=SECONDS)))
    blamed = ending in ("a crash", "an abort", "no time")
    for grade in record.report.grades:
        reasons = {hole.reason for hole in grade.holes}
        assert len(reasons) == 1 and grade.holes
        assert reasons.pop().startswith(NOT_READ if blamed else NOT_GRADED)
    assert could_not(record.report) is not blamed


def test_one_stage_that_ends_its_process_costs_that_stage_alone(tmp_path, monkeypatch):
    """The record has the verdicts before and after it, and the signs of what was graded."""
    second = course.find_stage("08")

    def lines_of(job, method, start):
        asked.append(start)
        grades = [{"submission": "x", "stage": each.stage, "holes": [], "sandbox": "limits",
                   "seed": 1, "notes": []} for each in job.files]
        yield {"begins": [start, "grade"]}
        if start == 1:
            yield {"ended": f"{NOT_READ}: because"}
            return
        yield {"grade": grades[start]}
        if start == 0:
            yield {"begins": [start, "look"]}
            yield {"look": ["a sign"]}
            yield {"begins": [1, "grade"]}
            yield {"ended": f"{NOT_READ}: because"}
            return
        yield {"begins": [start, "look"]}
        yield {"ended": f"{NOT_READ}: too deep"}

    asked: list[int] = []
    monkeypatch.setattr(limited, "lines_of", lines_of)
    path = tmp_path / "handin.py"
    path.write_text(STUB)
    record = Record.from_json(done(path, Settings((STAGE, second, STAGE)), "limits", 5, Limits()))
    assert asked == [0, 2]
    assert [grade.stage for grade in record.report.grades] == [STAGE.key, second.key, STAGE.key]
    assert {hole.reason for hole in record.report.grades[1].holes} == {f"{NOT_READ}: because"}
    assert record.look == ("a sign", "stage 07 could not be searched for signs: too deep")


@pytest.mark.slow
def test_a_class_of_them_is_graded_once(tmp_path, monkeypatch):
    """Each is named in grades.csv and has feedback, and a second run has nothing to do."""
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")
    folder = tmp_path / "class"
    folder.mkdir()
    chosen = ("an elif chain of 250 branches", "2,500 additions", "100,000 parentheses",
              "256 KB of calls")
    for name in chosen:
        (folder / f"{name}.py").write_text(TEXTS[name][0])
    (folder / ("\U0001f40d" * 62 + ".py")).write_text(STUB)
    (folder / "zoe.py").write_text(SOLUTION)
    paths = sorted(str(path) for path in folder.iterdir())
    kept = tmp_path / "kept"
    words = ["grade", *paths, "--stage", "07", "--keep", str(kept), "--seed", "5", "--format",
             "csv", "--workers", "2"]
    tables = []
    for run in range(2):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        assert run == 0 or f"{len(paths)} of {len(paths)} were graded earlier" in result.output
        tables.append((kept / "grades.csv").read_text(encoding="utf-8"))
    assert tables[0] == tables[1]
    points = {row["submission"]: int(row["points"]) for row in csv.DictReader(
        tables[0].splitlines())}
    assert points == {Path(path).name: TEXTS[Path(path).stem][1] if Path(path).stem in TEXTS else
                      10 if "zoe" in path else 0 for path in paths}
    assert len([*(kept / "feedback").glob("*.html")]) == len(paths)
    assert len((kept / "results.jsonl").read_text().splitlines()) == len(paths)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc")
def test_what_grades_ends_with_the_class(tmp_path):
    """Whoever kills the class's process leaves neither a job nor its sandbox running."""
    path, here = tmp_path / "handin.py", tmp_path / "here"
    path.write_text(f"{STUB}\nimport os\nopen({str(here)!r}, 'w').write(str(os.getpid()))\n"
                    "while True: pass\n")
    job = make_job(path, Settings((STAGE,)), 5, Limits(seconds=100), "limits")
    text = ("import sys; from minigrad_course.jobs.limited import run_job\n"
            "run_job(sys.stdin.read())")
    with subprocess.Popen([sys.executable, "-c", text], cwd=course.checkout(), text=True,
                          stdin=subprocess.PIPE, env={**os.environ, "MARK": str(tmp_path)}
                          ) as process:
        assert process.stdin is not None
        process.stdin.write(job.as_json())
        process.stdin.close()
        ends = time.monotonic() + 60
        while not (here.exists() and here.read_text()) and time.monotonic() < ends:
            time.sleep(0.1)
        assert len(_with_mark(str(tmp_path))) == 2
        process.kill()
        process.wait()
    graded = Path("/proc", here.read_text())
    ends = time.monotonic() + 30
    while (left := [*_with_mark(str(tmp_path)), *([graded] if graded.exists() else [])]) \
            and time.monotonic() < ends:
        time.sleep(0.1)
    assert not left


def _with_mark(text: str) -> list[Path]:
    """Return the processes in whose environment a text is."""
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"MARK={text}\0".encode() in each.read_bytes():
                found.append(each.parent)
    return found


def test_a_job_and_its_record_come_back(tmp_path):
    path = tmp_path / "handin.py"
    path.write_text(STUB)
    job = make_job(path, Settings((STAGE,), {"07.1": 7}, hints=2), 5, Limits(total=9))
    assert Job.from_json(job.as_json()) == job
    assert Job.from_json(job.as_json()).key == job.key
    assert str(tmp_path) not in job.as_json()
    assert job.files[0].texts == {MODULE: STUB}


@pytest.mark.parametrize("line", ["", "3", "null", "[]", "{}", '{"key": 3}',
                                  '{"key": "k", "report": {}}', '{"key": "k", "report": 3}',
                                  '{"key": "k", "look": [3], "report": {}}', "[" * 100_000])
def test_what_is_no_record_is_refused(line):
    with pytest.raises((ValueError, KeyError, TypeError, RecursionError)):
        Record.from_json(line)


def test_a_record_is_short(tmp_path):
    long = "x" * 1_000_000
    hole = {"hole": "07.1", "title": "t", "points": 0, "max_points": 1, "reason": long,
            "failing": [[long, long]] * 1000, "diagnosis": long, "hints": [], "note": ""}
    grade = {"submission": long, "stage": "07", "holes": [hole], "sandbox": "limits", "seed": 1,
             "notes": [long] * 1000}
    record = Record.from_dict({"key": "k", "look": [long] * 1000,
                               "report": {"submission": long, "grades": [grade]}})
    assert len(record.as_json()) < 2_000_000
    assert Record.from_json(record.as_json()) == record
    forged = json.dumps(record.as_dict()).replace('"points": 0', '"points": "9"')
    with pytest.raises(TypeError, match="whole numbers"):
        Record.from_json(forged)


def test_no_text_ends_a_comparison(tmp_path):
    """What can be compared is compared, and the rest is named."""
    kinds = {"many": TEXTS["256 KB of names"][0], "sums": TEXTS["5,000 additions"][0],
             "chain": TEXTS["an elif chain of 2,500 branches"][0]}
    for name, text in {"a": SOLUTION, "z": STUB, **kinds}.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / ("\U0001f40d" * 62 + ".py")).write_text(SOLUTION)
    (tmp_path / "folder").mkdir()
    paths = sorted(str(path) for path in tmp_path.iterdir())
    result = CliRunner().invoke(app, ["similarity", *paths, "--stage", "07", "--format", "csv"])
    assert result.exit_code == 0, result.output
    rows = [*csv.DictReader(result.output.splitlines())]
    alike = {row["one"] for row in rows if row["other"] == "the package"}
    assert {"a.py", "\U0001f40d" * 62 + ".py"} <= alike
    named = {row["one"]: row["sign"] for row in rows if "cannot be compared" in row["sign"]}
    assert "tokens, and the limit is" in named["many.py"]
    for name in kinds:
        assert f"{name}.py" in alike | set(named)


@pytest.mark.parametrize("ending", slow_but(2, ENDINGS))
def test_however_reading_ends_the_rest_is_compared(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "CHILD", "tests.support.bad_child")
    files = []
    for name in ("one", "two"):
        (tmp_path / name).write_text(STUB)
        files.append(dataclasses.replace(files_of(tmp_path / name, STAGE), error=ending))
    assert [bool(each.problem) for each in reader.read_all(files)] == [True, True]
