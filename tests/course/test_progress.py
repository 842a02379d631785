"""How far grading has come: what is said of the time that is left."""

from __future__ import annotations

import io

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from rich.console import Console

from minigrad_course.grading.progress import Counted


def counted(total: int, known: int, each: float) -> list[str]:
    clock, out = [0.0], io.StringIO()
    with Counted(Console(file=out, width=100), total, lambda: clock[0]) as bar:
        bar.went_on(known)
        for _ in range(total - known):
            clock[0] += each
            bar.advance()
    return out.getvalue().splitlines()


def test_a_line_for_each_tenth():
    assert counted(20, 0, 60.0) == [
        f"graded {done} of 20, about {left} left" for done, left in [
            (2, "18 minutes"), (4, "16 minutes"), (6, "14 minutes"), (8, "12 minutes"),
            (10, "10 minutes"), (12, "8 minutes"), (14, "6 minutes"), (16, "4 minutes"),
            (18, "2 minutes")]] + ["graded 20 of 20"]


def test_what_was_known_before_says_nothing_of_the_speed():
    assert counted(200, 180, 60.0) == ["180 of 200 were graded earlier", "graded 200 of 200"]
    assert counted(40, 20, 120.0)[:2] == ["20 of 40 were graded earlier",
                                          "graded 24 of 40, about 32 minutes left"]


def test_where_all_was_known_nothing_was_graded():
    assert counted(3, 3, 0.0) == ["3 of 3 were graded earlier"]


def test_one_submission_is_not_counted():
    assert counted(1, 0, 60.0) == []
