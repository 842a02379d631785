"""A loop or a crash in one exercise costs that one alone, and a submission has a limit of time."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.source import blank
from minigrad_course.grading.asking import Runs
from minigrad_course.grading.sandbox import Ended, Limits
from tests.support.attacks import MODULE, SECONDS, SOLUTION, STAGE, added, each_sandbox, graded
from tests.support.slow import one_in

ENDING = {
    "a loop": "while True: pass",
    "a sleep": "__import__('time').sleep(10_000)",
    "a loop that catches everything": """
while True:
    try:
        while True: pass
    except BaseException: pass""",
    "a loop without signals": """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
while True: pass""",
    "a loop in C": "__import__('itertools').count().__contains__(-1)",
    "an exit": "__import__('os')._exit(0)",
    "an exit with a status": "__import__('os')._exit(3)",
    "a crash": "__import__('ctypes').string_at(0)",
    "an abort": "__import__('os').abort()",
    "SystemExit": "raise SystemExit(0)",
    "recursion in C": """
import sys
sys.setrecursionlimit(10**9)
def deeper(): deeper()
deeper()""",
}


def ending(hole, code):
    """The solution with one exercise that ends its process."""
    from minigrad_course.content.source import Module, body_span

    source = Module.from_text(MODULE, SOLUTION)
    lines = SOLUTION.splitlines()
    for symbol in reversed(hole.symbols):
        function = source.function(symbol.partition(":")[2])
        first, _ = body_span(source, function)
        indent = " " * (function.col_offset + 4)
        lines[first - 1:first - 1] = [indent + line for line in code.strip().splitlines()]
    return "\n".join(lines) + "\n"


@each_sandbox
@pytest.mark.parametrize("way", one_in(2, ENDING))
def test_the_other_exercises_keep_their_points(way, sandbox, tmp_path):
    hole = STAGE.holes[-1]
    result = graded(ending(hole, ENDING[way]), tmp_path, sandbox, Limits(seconds=10))
    points = {each.hole: each.points for each in result.holes}
    assert points == {each.id: 0 if each == hole else each.points for each in STAGE.holes}, result


@each_sandbox
@pytest.mark.slow
def test_a_first_exercise_that_loops_takes_no_other_along(sandbox, tmp_path):
    hole = STAGE.holes[0]
    result = graded(ending(hole, "while True: pass"), tmp_path, sandbox, Limits(seconds=10))
    assert [each.hole for each in result.holes if each.reason] == [hole.id], result


@each_sandbox
@pytest.mark.slow
def test_an_open_exercise_leaves_the_others(sandbox, tmp_path):
    hole = STAGE.holes[3]
    result = graded(blank(STAGE, MODULE, [hole]), tmp_path, sandbox)
    points = {each.hole: each.points for each in result.holes}
    assert points[hole.id] == 0
    assert points[STAGE.holes[0].id] == STAGE.holes[0].points


@each_sandbox
@pytest.mark.slow
def test_a_silent_submission_has_its_limit(sandbox, tmp_path):
    begun = time.monotonic()
    result = graded(added("import time; time.sleep(10_000)"), tmp_path, sandbox,
                    Limits(seconds=SECONDS, total=2 * SECONDS))
    assert time.monotonic() - begun < 2 * SECONDS + 30  # starting and reading are not counted
    assert result.points == 0


def test_all_runs_of_a_submission_share_their_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    given = []

    class Slow:
        def run(self, bundle, words, job, limits):
            given.append(limits.seconds)
            now[0] += limits.seconds
            return Ended(b"", b"", None, "it did not end")

    runs = Runs(Slow(), Limits(seconds=10, total=25))
    told = [runs.run(None, [], []).reason for _ in range(6)]
    assert given == [10, 5, 5, 5]  # after a hang each has half of the time
    assert told[4:] == ["the time limit for the whole submission was used up"] * 2
