"""Nothing in one submission stops the class: it is caught, named and counted as zero."""

from __future__ import annotations

import csv
import json
import os
import subprocess

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.grading.answers import difference, same
from minigrad_course.grading.child import plain
from minigrad_course.grading.grade import Grade
from minigrad_course.grading.sandbox import Ended, Limits, Sandbox
from minigrad_course.grading.settings import Settings
from minigrad_course.grading.ungraded import could_not
from minigrad_course.jobs.batch import grade_all
from minigrad_course.jobs.record import Record
from tests.support.attacks import (
    SANDBOXES,
    STAGE,
    STUB,
    check_reports,
    each_sandbox,
    graded,
    in_probes,
)
from tests.support.jobs import done, graded_by
from tests.support.slow import one_in, slow_but

#: What a probe may have written in the place of a value; some of it raised in the comparison.
VALUES = {
    "a float that is too large": {"float": "0x1p99999"},
    "a float that is too small": {"float": "-0x1p-99999"},
    "a float with much text": {"float": "0x" + "1" * 100_000},
    "no text": {"float": None}, "a list": {"float": [[]]}, "a number": {"float": 1},
    "not a number": {"float": "nan"}, "infinity": {"float": "-inf"}, "empty": {"float": ""},
    "an array of one": {"array": ["0x1p99999"], "shape": [1], "dtype": "float64"},
    "an array of nothing": {"array": None, "shape": None, "dtype": None},
    "an array of lists": {"array": [[], {}], "shape": [2], "dtype": "float64"},
    "an array of text": {"array": "0x1p0", "shape": [1], "dtype": "float64"},
    "a shape without numbers": {"array": ["0x1p0"], "shape": ["1"], "dtype": "float64"},
    "no keys": {}, "null": None, "true": True, "text": "x" * 1000, "nested": [[[[[]]]]],
    "other keys": {"int": "1", "float": "0x1p0"}, "an integer": {"int": "9" * 10_000},
}
EXPECTED = [plain(1.0), plain([1.0, (2, True)]), plain("x"), plain(None), plain(7),
            {"array": ["0x1.0p+0"], "shape": [1], "dtype": "float64"}]


@pytest.mark.parametrize("value", VALUES)
def test_no_answer_stops_the_comparison(value):
    for expected in EXPECTED:
        assert same(VALUES[value], expected) is False or VALUES[value] == expected
    for answer in (VALUES[value], {"value": VALUES[value]}, {"raises": VALUES[value]}):
        assert len(difference(answer, {"value": None})) < 200
        assert len(difference(answer, {"raises": "ValueError"})) < 200


class Every(dict):
    """The reference engine's answers, the same to every probe."""

    def __missing__(self, job):
        return {"value": plain(0.5)}


class Saying:
    """A sandbox whose processes write what they are told to."""

    method = "limits"

    def __init__(self, output):
        self.output = output

    def run(self, bundle, words, job, limits):
        lines = b'{"ready": true}\n'
        if words[0] == "tests":
            return Ended(lines + b"".join(
                json.dumps({"test": "x", "holes": [hole.id], "outcome": "passed"}).encode() + b"\n"
                for hole in STAGE.holes), b"", 0)
        return Ended(lines + self.output(json.loads(job)), b"", 0)


def answered(value):
    return lambda jobs: b"".join(
        json.dumps({"probe": name, "seed": seed, "value": value}).encode() + b"\n"
        for name, seed in jobs)


@pytest.mark.parametrize("value", slow_but(1, VALUES))
def test_no_answer_stops_a_submission(value, tmp_path, monkeypatch):
    monkeypatch.setattr("minigrad_course.grading.grade.reference", lambda *_: Every())
    result = graded(STUB, tmp_path, Saying(answered(VALUES[value])))
    assert result.points == 0
    assert all(hole.reason for hole in result.holes)


OUTPUT = {
    "a broken line": b"{", "no UTF-8": b'{"probe": "\xff"}\n', "a list": b"[]\n",
    "a number": b"3\n", "deep": b"[" * 200_000 + b"\n", "a long number": b"9" * 100_000 + b"\n",
    "null": b"null\n", "nothing": b"", "a zero": b"\0\n", "other answers": b'{"probe": "x"}\n' * 99,
    "ten megabytes": b'{"probe": "' + b"x" * 10_000_000 + b'"}\n',
    "a name that is no text": b'{"probe": {}, "seed": []}\n',
    "surrogates": b'{"probe": "\\udcff", "seed": 1, "raises": "\\ud800"}\n',
}


@pytest.mark.parametrize("output", slow_but(1, OUTPUT))
def test_no_output_stops_a_submission(output, tmp_path):
    for sandbox in (Saying(lambda jobs: OUTPUT[output]), Saying(None)):
        if sandbox.output is None:  # the same as the output of the tests
            sandbox.run = lambda *_: Ended(OUTPUT[output], OUTPUT[output], 0)
        result = graded(STUB, tmp_path, sandbox, Limits(seconds=5))
        assert result.points == 0


#: Texts at which a program that reads them may break.
TEXTS = {
    "brackets": "(" * 100_000, "closed brackets": "()" * 100_000, "lists": "[" * 90 + "]" * 90,
    "minus": "-" * 100_000 + "1", "not": "not " * 50_000 + "1", "dots": "x" + ".a" * 100_000,
    "sums": "1" + "+1" * 100_000, "calls": "f" + "()" * 100_000,
    "lambdas": "lambda:" * 30_000 + "0",
    "ifs": "\n".join(" " * i + "if 1:" for i in range(99)) + "\n" + " " * 99 + "pass",
    "functions": "\n".join(" " * i + f"def f{i}():" for i in range(99)) + "\n" + " " * 99 + "0",
    "a long number": "x = " + "9" * 200_000, "a power": "x = 9 ** 9 ** 9",
    "a long string": "x = '" + "y" * 200_000 + "'", "a shift": "x = 1 << 10 ** 12",
    "names": "\n".join(f"x{i} = 0" for i in range(20_000)),
    "a form feed": "\f\f\fx = 1", "line ends": "x = 1\r\ny = 2\rz = 3\n", "tabs": "if 1:\n\tx\n  y",
    "a backslash": "x = 1 \\", "a quote": "'''", "an f-string": "f'{" + "{" * 50, "a star": "*",
    "a walrus": "(x := 1)", "match": "match x:\n case [*_, *_]: 0", "await": "await x",
    "return": "return", "null names": "ℌ = 1", "marks": "x = '\u202e\u2066'",
    "a BOM": "\ufeffx = 1",
    "surrogates": "x = '\\ud800'", "a cookie": "# -*- coding: unicode_escape -*-\nx = 1",
    "two holes": STUB + STUB, "nothing": "", "blank": "\n" * 100_000, "one line": ";" * 1000,
}


@pytest.mark.parametrize("text", one_in(3, TEXTS))
def test_no_text_stops_a_submission(text, tmp_path):
    path = tmp_path / "handin.py"
    path.write_bytes(TEXTS[text].encode("utf-8", "surrogatepass"))
    report = Record.from_json(done(path, Settings((STAGE,)), SANDBOXES[0].method, 5,
                                   Limits(seconds=10))).report
    assert report.points == 0
    assert all(hole.reason for hole in report.holes)
    check_reports(report)


def class_of(tmp_path):
    """A class with good submissions around those that are none."""
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "a.py").write_text(STUB)
    (folder / "z.py").write_text(STUB)
    odd = [b"\xff\xfe.py", b"caf\xe9.py", b"new\nline.py", b"\x1b[2Jx.py", b" .py", b"a,b\"c.py",
           b"=1+1.py", b"-rf.py", "\u202egnp.py".encode(), b"x" * 250 + b".py"]
    for name in odd:
        with open(os.path.join(os.fsencode(folder), name), "w") as file:
            file.write(STUB)
    (folder / "closed").mkdir()
    (folder / "closed" / "exercises").mkdir()
    (folder / "closed" / "exercises").chmod(0)
    (folder / "shut").mkdir()
    (folder / "shut").chmod(0)
    (folder / "loop").symlink_to("loop")
    (folder / "gone").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    (folder / "deep").mkdir()
    (folder / "deep" / "exercises").symlink_to("..")
    return sorted(folder.iterdir())


@pytest.mark.slow
def test_no_name_and_no_folder_stops_the_class(tmp_path):
    paths = class_of(tmp_path)
    words = ["grade", "--stage", "07", "--keep", str(tmp_path / "kept"), "--format", "csv", "--",
             *map(str, paths)]
    for _ in range(2):
        result = CliRunner().invoke(app, words)
        assert result.exit_code in (0, 1), result.output
        with (tmp_path / "kept" / "grades.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert len(rows) == len(paths) + 1
        assert all(row[1] == "0" for row in rows[1:])
        assert (tmp_path / "kept" / "grades.html").stat().st_size
    for name in ("closed", "shut"):
        (tmp_path / "class" / name).chmod(0o755)
    (tmp_path / "class" / "closed" / "exercises").chmod(0o755)


@pytest.mark.parametrize("error", [OverflowError, ValueError, KeyError,
                                   UnicodeEncodeError("utf-8", "x", 0, 1, "no"), OSError("no disk"),
                                   subprocess.SubprocessError, AssertionError, StopIteration],
                         ids=lambda error: getattr(error, "__name__", type(error).__name__))
def test_no_error_stops_the_class(error, tmp_path, monkeypatch):
    """Whatever happens in one submission is a reason, and is tried again by the next run."""
    def broken(stage, submission, *_):
        if submission.name == "bad.py":
            raise error
        return Grade(submission.name, stage.key)

    graded_by(broken, monkeypatch)
    for name in ("a.py", "bad.py", "z.py"):  # equal texts share a verdict
        (tmp_path / name).write_text(f"{STUB}# {name}\n")
    kept = tmp_path / "results.jsonl"
    paths = [tmp_path / name for name in ("a.py", "bad.py", "z.py")]
    for _ in range(2):
        records = grade_all(paths, Settings((STAGE,)), Sandbox("limits"), 5, 1, kept,
                            lambda _: None)
        reports = [each.report for each in records]
        assert [each.submission for each in reports] == ["a.py", "bad.py", "z.py"]
        assert [could_not(each) for each in reports] == [False, True, False]
        assert all("it could not be graded" in hole.reason for hole in reports[1].holes)
        assert len(kept.read_text().splitlines()) == 2


@each_sandbox
@pytest.mark.slow
def test_a_float_that_is_too_large_is_wrong(sandbox, tmp_path):
    result = graded(in_probes("""
        import json, os, sys
        lines = [{"ready": True}] + [{"probe": name, "seed": seed, "value": {"float": "0x1p99999"}}
                                     for name, seed in json.loads(os.pread(0, 1 << 20, 0))]
        os.write(3, "".join(json.dumps(each) + "\\n" for each in lines).encode())
        os._exit(0)
    """), tmp_path, sandbox)
    assert result.points == 0
