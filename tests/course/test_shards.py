"""A class in parts, on other machines and in other executors: the same table comes out."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content import stages as course
from minigrad_course.content.stages import CourseError
from minigrad_course.grading.grade import Grade, HoleGrade
from minigrad_course.jobs.executors import executor_named, finished, shard_named
from tests.support.jobs import graded_by

STAGE = course.find_stage("07")
(MODULE,) = STAGE.modules
STUB = STAGE.exercise(MODULE).read_text(encoding="utf-8")
SOLUTION = STAGE.solution(MODULE).read_text(encoding="utf-8")


@pytest.fixture
def asked(monkeypatch):
    """Grading by the length of a text, and a list of the names that it was asked for."""
    names: list[str] = []

    def grader(stage, submission, *_):
        names.append(submission.name)
        (text,) = submission.texts.values()
        return Grade(submission.name, stage.key, tuple(HoleGrade(
            hole.id, "t", hole.points * (len(text) % 3 > 0), hole.points,
            "" if len(text) % 3 else "wrong") for hole in stage.holes))

    graded_by(grader, monkeypatch)
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")
    return names


@pytest.fixture
def paths(tmp_path):
    folder = tmp_path / "class"
    made = [folder / name for name in (*(f"s{i}.py" for i in range(9)), "a/hw.py", "b/hw.py")]
    for number, path in enumerate(made):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = 1  #{'#' * number}\n")
    (tmp_path / "roster.csv").write_text("id,name\n" + "".join(f"s{i},N{i}\n" for i in range(12)))
    return [str(path) for path in made]


def call(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result.output


def grade(paths, keep: Path, *words: str, code: int = 0) -> str:
    return call("grade", *paths, "--stage", "07", "--seed", "5", "--keep", str(keep), "--format",
                "csv", *words, code=code)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file()}


@pytest.mark.parametrize("count", [1, 4, 20])
def test_shards_merged_are_the_class(count, paths, tmp_path, asked):
    roster = ("--roster", str(tmp_path / "roster.csv"))
    grade(paths, tmp_path / "whole", *roster)
    assert len(asked) == len(paths)
    parts = [tmp_path / f"part-{i}" for i in range(1, count + 1)]
    for number, part in enumerate(parts, 1):
        grade(paths, part, "--shard", f"{number}/{count}")
        assert not (part / "grades.csv").exists()
    assert sorted(asked) == sorted(asked[:len(paths)] * 2)
    output = call("results", "merge", *map(str, reversed(parts)), "--keep",
                  str(tmp_path / "merged"), *roster)
    assert f"{len(paths)} of {len(paths)} submissions" in output
    merged, whole = contents(tmp_path / "merged"), contents(tmp_path / "whole")
    assert {name for name in whole if name != "results.jsonl"} == {
        name for name in merged if name != "results.jsonl"}
    for name in whole.keys() - {"results.jsonl", "class.json"}:
        assert merged[name] == whole[name], name
    call("results", "merge", *map(str, parts), str(parts[0]), str(tmp_path / "merged"), "--keep",
         str(tmp_path / "merged"), *roster)
    assert contents(tmp_path / "merged") == merged


def test_what_is_missing_is_named(paths, tmp_path, asked):
    grade(paths, tmp_path / "part", "--shard", "1/4")
    output = call("results", "merge", str(tmp_path / "part"), "--keep", str(tmp_path / "merged"),
                  code=1)
    assert "3 of 11 submissions" in output
    assert "8 have no record yet and count as 0: s1.py" in output
    rows = (tmp_path / "merged" / "grades.csv").read_text().splitlines()
    assert len(rows) == 12 and [row.split(",")[1] for row in rows[1:]].count("0") >= 8


def test_shards_of_other_settings_are_refused(paths, tmp_path, asked):
    grade(paths, tmp_path / "one", "--shard", "1/2")
    grade(paths, tmp_path / "two", "--shard", "2/2", "--seconds", "9")
    assert "were graded with different tests" in call(
        "results", "merge", str(tmp_path / "one"), str(tmp_path / "two"), "--keep",
        str(tmp_path / "merged"), code=2)


def test_what_was_cut_off_is_left_out(paths, tmp_path, asked):
    grade(paths, tmp_path / "part", "--shard", "1/1")
    lines = (tmp_path / "part" / "results.jsonl").read_bytes()
    (tmp_path / "merged").mkdir()
    (tmp_path / "merged" / "results.jsonl").write_bytes(lines.splitlines(keepends=True)[0][:-9])
    (tmp_path / "part" / "results.jsonl").write_bytes(b"\xff\n[]\n{}\n" + lines[:-9])
    output = call("results", "merge", str(tmp_path / "part"), "--keep", str(tmp_path / "merged"),
                  code=1)
    assert "10 of 11 submissions" in output


def test_the_last_text_counts(paths, tmp_path, asked):
    for number in (1, 2):
        grade(paths, tmp_path / f"part-{number}", "--shard", f"{number}/2")
    Path(paths[0]).write_text("x = 10\n\n")
    grade(paths, tmp_path / "part-1", "--shard", "1/2")
    file = tmp_path / "part-1" / "class.json"  # as if it were done much later
    file.write_text(file.read_text().replace('"when": "20', '"when": "21'))
    call("results", "merge", str(tmp_path / "part-1"), str(tmp_path / "part-2"), "--keep",
         str(tmp_path / "merged"))
    grade(paths, tmp_path / "whole")
    assert (tmp_path / "merged" / "grades.csv").read_text() == (
        tmp_path / "whole" / "grades.csv").read_text()


@pytest.mark.parametrize(("words", "told"), [
    (["--shard", "0/4", "--seed", "1", "--keep", "k"], "write the shard's number"),
    (["--shard", "5/4", "--seed", "1", "--keep", "k"], "write the shard's number"),
    (["--shard", "x", "--seed", "1", "--keep", "k"], "write the shard's number"),
    (["--shard", "1/4", "--seed", "1"], "--shard needs --keep"),
    (["--shard", "1/4", "--keep", "k"], "--shard needs a seed"),
    (["--executor", "x"], "write dask:ADDRESS"), (["--executor", "math:pi"], "not callable"),
    (["--executor", "no_such_module:x"], "no_such_module"),
    (["--executor", "math:no_such_name"], "no_such_name"),
    (["--executor", "tests.support.executors:no_executor"], "must return an executor"),
])
def test_what_cannot_be_done_is_told(words, told, tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x\n")
    assert told in " ".join(call("grade", "a.py", "--stage", "07", *words, code=2).split())
    assert not asked


@pytest.mark.parametrize("folder", ["nowhere", "empty", "broken"])
def test_what_is_no_folder_of_results_is_told(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "class.json").write_text("[" * 99_999)
    assert str(tmp_path / folder) in call("results", "merge", str(tmp_path / folder), "--keep",
                                          str(tmp_path / "merged"), code=2).replace("\n", "")


def test_a_shard_is_read():
    assert shard_named("10/10") == (10, 10)
    for text in ("", "1", "1/0", "0/0", "-1/4", "1/4/4", "one/two"):
        with pytest.raises(CourseError):
            shard_named(text)


def test_few_jobs_wait_in_an_executor(monkeypatch):
    """A class of thousands is not handed over at once, and each job ends once."""
    monkeypatch.setattr("minigrad_course.jobs.executors.AHEAD", 3)
    given: list[int] = []
    with executor_named("tests.support.executors:threads") as executor:
        done = []
        jobs = ((given.append(i), (i, str(i)))[1] for i in range(20))
        for number, future in finished(executor, str.upper, jobs):
            done.append((number, future.result()))
            assert len(given) - len(done) <= 3
    assert sorted(done) == [(i, str(i)) for i in range(20)]


def few(tmp_path: Path) -> list[str]:
    (tmp_path / "class").mkdir()
    for name, text in {"ann": SOLUTION, "bo": STUB, "cy": f"{SOLUTION}# cy\n"}.items():
        (tmp_path / "class" / f"{name}.py").write_text(text)
    return sorted(str(path) for path in (tmp_path / "class").iterdir())


EXPECTED = [("ann.py", "10"), ("bo.py", "0"), ("cy.py", "10")]


def points(folder: Path) -> list[tuple[str, ...]]:
    return [tuple(row.split(",")[:2]) for row in
            (folder / "grades.csv").read_text().splitlines()[1:]]


@pytest.mark.slow
def test_any_executor_grades_a_class(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")
    monkeypatch.setenv("PYTHONPATH", str(course.checkout()))
    grade(few(tmp_path), tmp_path / "kept", "--executor", "tests.support.executors:processes")
    assert points(tmp_path / "kept") == EXPECTED


@pytest.mark.slow
def test_dask_grades_a_class_and_a_worker_may_die(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="install the extra 'dask' to try it")
    monkeypatch.setenv("MINIGRAD_ANY_SANDBOX", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(course.checkout()), *sys.path]))
    killed: list[int] = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster:
        def kill() -> None:
            """Kill the first worker that has a job."""
            with distributed.Client(cluster.scheduler_address) as client:
                ends = time.monotonic() + 60
                while not killed and time.monotonic() < ends:
                    busy = [where for where, jobs in client.processing().items() if jobs]
                    pids = client.run(os.getpid)
                    for where in busy[:1]:
                        with contextlib.suppress(ProcessLookupError, KeyError):
                            os.kill(pids[where], signal.SIGKILL)
                            killed.append(pids[where])
                    time.sleep(0.05)

        killer = threading.Thread(target=kill)
        killer.start()
        grade(few(tmp_path), tmp_path / "kept", "--executor", f"dask:{cluster.scheduler_address}")
        killer.join()
    assert len(killed) == 1
    assert points(tmp_path / "kept") == EXPECTED
    lines = (tmp_path / "kept" / "results.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["who"] for line in lines) == [name for name, _ in EXPECTED]
