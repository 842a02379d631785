"""The page's Python, run here out of the archive that the site ships: the terminal's verdicts."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from rich.console import Console

from minigrad_course.content.source import module
from minigrad_course.content.stages import Stage, checkout, find_stage
from minigrad_course.terminal.show_verdicts import try_and_show
from minigrad_course.verdicts.verdict import SHOWN_LINES, SHOWN_WIDTH
from tests.course.test_waiting import PAIRS, solution, tried
from tests.support.slow import one_in

ROOT = checkout()

#: What the page's worker does; the terminal's libraries are not there.
PROGRAM = """
import sys
for name in ("merge3", "rich", "typer", "watchfiles"):
    sys.modules[name] = None
sys.path.insert(0, sys.argv[1])
import grading
grader = grading.Grader()
grader.limit = float(sys.argv[2])
assert grader.waiting.__file__.startswith(sys.argv[1])
for asked in sys.stdin:
    print(grader.grade(asked))
"""

Graded = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Return what the page's grader says of files: one answer for each (stage, texts, holes)."""
    spec = spec_from_file_location("minigrad_site_build", ROOT / "site" / "runtime" / "build.py")
    assert spec is not None and spec.loader is not None
    build = module_from_spec(spec)
    spec.loader.exec_module(build)
    folder = tmp_path_factory.mktemp("page").resolve()
    build.pack(folder, ROOT)
    for name in ("package", "more", "course"):
        with tarfile.open(folder / f"{name}.tar.gz") as packed:
            packed.extractall(folder / "course", filter="data")

    def ask(*asked: tuple[Stage, dict[str, str], list[str] | None],
            limit: float = 60) -> list[dict[str, Any]]:
        lines = [json.dumps({"stage": stage.key, "files": texts, "holes": holes})
                 for stage, texts, holes in asked]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(folder / "course"), str(limit)],
            input="\n".join(lines), text=True, capture_output=True, cwd=folder,
            env={**os.environ, "PYTHONPATH": "", "OMP_NUM_THREADS": "1"})
        assert done.returncode == 0, done.stderr
        assert tempfile.gettempdir() not in done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


def shown(stage: Stage, texts: dict[str, str], folder: Path) -> str:
    """What `minigrad run` shows."""
    files = {path: folder / path for path in texts}
    for path, text in texts.items():
        files[path].parent.mkdir(parents=True, exist_ok=True)
        files[path].write_text(text, encoding="utf-8")
    out = Console(file=StringIO(), width=200, color_system=None)
    try_and_show(out, stage, files, list(stage.holes))
    return out.file.getvalue()


def with_line(stage: Stage, symbol: str, line: str) -> tuple[dict[str, str], int]:
    """The package's answers with a line before the body of a function, and that line's number."""
    path, _, name = symbol.partition(":")
    source = module(stage.package, path)
    body = [each for each in source.function(name).body
            if not isinstance(getattr(each, "value", None), ast.Constant)]
    lines = source.text.splitlines()
    lines.insert(body[0].lineno - 1, " " * body[0].col_offset + line)
    return solution(stage) | {path: "\n".join(lines) + "\n"}, body[0].lineno


@pytest.mark.parametrize("wrong", one_in(2, PAIRS))
def test_a_right_answer_waits_as_in_the_terminal(wrong, graded, tmp_path):
    make, right = PAIRS[wrong]
    stage, texts = make()
    one = min(right)
    everything, alone = graded((stage, texts, None), (stage, texts, [one]))
    here = {each["hole"]: each for each in everything["verdicts"]}
    there = tried(stage, texts, tmp_path)
    assert {hole for hole, each in here.items() if each["state"] == "right"} == right
    assert {here[hole]["waits_for"] for hole in right} == {wrong}
    for hole, verdict in there.items():
        assert {name: here[hole][name] for name in (
            "state", "is_right", "points", "diagnosis", "tests", "waits_for", "also")} == {
            "state": verdict.state, "is_right": verdict.is_right, "points": verdict.points,
            "diagnosis": verdict.diagnosis, "tests": verdict.tests,
            "waits_for": verdict.waits_for, "also": verdict.also}
    (verdict,) = alone["verdicts"]  # the others are not asked for, and waited for all the same
    assert (verdict["state"], verdict["waits_for"]) == ("right", wrong)


@pytest.mark.slow
def test_prints_stand_under_the_exercise_that_printed_them_and_are_capped(graded):
    stage = find_stage("05")
    register = "graph/hooks.py:RemovableHandle.__init__"
    passing, _ = with_line(stage, register, "print('here', len(hooks))")
    failing, _ = with_line(stage, register, "print('id is', 7); self.id = 7; self.hooks = hooks; "
                                            "return")
    much, _ = with_line(stage, register, "print('x' * 1000); [print(i) for i in range(500)]")
    importing = {path: f"{text}\nprint('on import')\n" if path == "graph/hooks.py" else text
                 for path, text in solution(stage).items()}
    passed, failed, cut, imported = graded(
        *((stage, texts, ["05.1", "05.2"]) for texts in (passing, failing, much, importing)))
    first, second = passed["verdicts"]
    assert first["state"] == "solved" and second["printed"] is None
    assert first["printed"]["head"].startswith(
        "05.1 printed in test_hooks_stand_in_the_order_of_registration (and in ")
    assert (first["printed"]["lines"], first["printed"]["more"]) == (["here 1"] * 3, 0)
    first, second = failed["verdicts"]
    assert first["state"] == "wrong" and first["printed"]["lines"][0] == "id is 7"
    assert second["printed"] is None
    printed = cut["verdicts"][0]["printed"]
    assert printed["lines"][0] == "x" * SHOWN_WIDTH + " ..."
    assert len(printed["lines"]) == SHOWN_LINES and printed["more"] > 100
    assert imported["printed"]["lines"] == ["on import"]
    assert {each["state"] for each in imported["verdicts"]} == {"solved"}


@pytest.mark.slow
def test_an_answer_that_is_not_python_names_its_line(graded):
    stage = find_stage("05")
    texts, number = with_line(stage, "graph/hooks.py:RemovableHandle.__init__", "x = (1")
    (told,) = graded((stage, texts, None))
    assert told["problem"] == ""
    broken, *others = told["verdicts"]
    assert broken["diagnosis"] == ("It is not valid Python: '(' was never closed "
                                   f"(hooks.py, line {number})")
    assert broken["line"] == ["graph/hooks.py", number]
    assert broken["first"]["where"] == f"graph/hooks.py:{number}"
    assert all(each["is_right"] and each["line"] is None for each in others)


@pytest.mark.slow
@pytest.mark.parametrize(("line", "error"), [
    ("def broken(:", "SyntaxError: invalid syntax"),
    ("1 / 0", "ZeroDivisionError: division by zero"),
])
def test_a_file_that_cannot_be_imported_names_its_line_and_none_of_the_package(
        line, error, graded, tmp_path):
    stage = find_stage("07")
    (path,) = stage.modules
    lines = solution(stage)[path].splitlines()
    number = next(n for n, each in enumerate(lines) if each.startswith("class "))
    lines.insert(number, line)
    texts = {path: "\n".join(lines) + "\n"}
    (told,) = graded((stage, texts, None))
    assert told["line"] == [path, number + 1]
    assert told["problem"].splitlines()[-1] == error
    in_terminal = shown(stage, texts, tmp_path)
    assert in_terminal.startswith(f"could not run the tests: {error}\n")
    assert f'File "{tmp_path / path}", line {number + 1}' in in_terminal
    for text in (told["problem"], in_terminal):
        assert "importlib" not in text and "minigrad/" not in text and line in text


@pytest.mark.slow
def test_an_answer_that_keeps_the_package_from_being_imported_names_its_line(graded):
    stage = find_stage("04a")
    texts = solution(stage)
    head = "def infer_size("
    number = texts["shapes.py"].partition(head)[0].count("\n") + 1
    texts["shapes.py"] = texts["shapes.py"].replace(head, f"@missing\n{head}")
    (told,) = graded((stage, texts, None))
    (wrong,) = (each for each in told["verdicts"] if not each["is_right"])
    assert (wrong["hole"], wrong["line"]) == ("04a.1", ["shapes.py", number])
    assert wrong["first"]["message"] == "NameError: name 'missing' is not defined"


@pytest.mark.slow
def test_stop_ends_the_second_runs_too(graded):
    """A test may catch the KeyboardInterrupt, and pytest does: nothing runs after it."""
    stage = find_stage("05")
    caught, _ = with_line(stage, "graph/hooks.py:RemovableHandle.__init__",
                          "import signal; import contextlib\n        with contextlib.suppress("
                          "KeyboardInterrupt): signal.raise_signal(2)")
    stopped, after = graded((stage, caught, None), (stage, solution(stage), ["05.1"]))
    assert (stopped["problem"], stopped["verdicts"]) == ("it was stopped", [])
    assert [each["state"] for each in after["verdicts"]] == ["solved"]


def test_an_endless_loop_ends_by_itself_with_the_terminals_verdict(graded, tmp_path):
    stage = find_stage("00")
    texts, number = with_line(stage, "tiny.py:slope", "while True: pass")
    ((told,),) = ([each["verdicts"] for each in graded((stage, texts, ["00.1"]), limit=1)])
    there = tried(stage, texts, tmp_path, ["00.1"], limit=1)["00.1"]
    assert (told["state"], told["diagnosis"]) == (there.state, there.diagnosis)
    assert told["diagnosis"] == ("It did not end within 1 seconds; stopped at tiny.py, "
                                 f"line {number}, in slope (00.1).")
    assert told["first"]["message"].startswith("TimeLimit: ")
