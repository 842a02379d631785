"""What fits on a screen of 24 lines and 80 columns, and where one is in the course."""

from __future__ import annotations

from io import StringIO

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from rich.console import Console
from rich.text import Text

from minigrad_course.content.stages import stages
from minigrad_course.learner import skipped_stages
from minigrad_course.learner.next_step import next_step
from minigrad_course.learner.workspace import make_workspace
from minigrad_course.terminal.learn import Session
from minigrad_course.terminal.progress_chart import progress_chart
from minigrad_course.terminal.wrapping import print_wrapped

GRADED = [stage for stage in stages() if stage.holes]


@pytest.fixture
def space(tmp_path):
    return make_workspace(tmp_path / "engine")


def screen(**settings) -> Console:
    """A terminal of 80 columns and 24 lines."""
    return Console(file=StringIO(), force_terminal=True, color_system=None, width=80, height=24,
                   highlight=False, **settings)


@pytest.mark.parametrize("solved", [0, 1, len(GRADED) // 2, len(GRADED) - 1, len(GRADED)])
@pytest.mark.parametrize("left_out", [0, 3])
def test_progress_fits_on_a_screen_and_shows_the_next_exercise(space, solved, left_out):
    skipped_stages.skip(space, GRADED[:left_out])
    for stage in GRADED[left_out:solved]:
        space.record((hole, True) for hole in stage.holes)
    steps = list(next_step(space))
    lines = [Text.from_markup(line).plain
             for line in progress_chart(space, "utf-8", 24 - len(steps) - 1)]
    assert len(lines) + len(steps) + 1 <= 24 and max(map(len, lines)) <= 80
    if any("▶" in line for line in progress_chart(space, "utf-8")):
        here = next(n for n, line in enumerate(lines) if "▶" in line)
        assert all(" to " not in line[:10] for line in lines[max(here - 1, 0) : here + 2])
    whole = [Text.from_markup(line).plain for line in progress_chart(space, "utf-8")]
    assert len(whole) == len(stages()) + 3 and whole[-1] == lines[-1]


def test_the_list_is_that_of_the_stage_and_says_how_far_one_is(space):
    space.record((hole, True) for hole in GRADED[0].holes)
    console = screen()
    session = Session(console, space)
    session.key("l")
    lines = console.file.getvalue().splitlines()
    first = GRADED[1].holes[0].id
    assert f"next {first} " in lines[0] and len(lines) <= 24
    assert f"stage 2 of {len(GRADED)}; {len(GRADED[0].holes)} of " in lines[-2]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_word_is_broken(width):
    text = ("  The lesson explains why [green]accumulation[/] sums gradients, and\n"
            "    /a/path/that/is/longer/than/any/line/of/a/terminal/03_engine/engine/engine.py:12 "
            "is the file to write it in.")
    console = Console(file=StringIO(), force_terminal=True, color_system=None, width=width)
    print_wrapped(console, text)
    shown = console.file.getvalue()
    assert shown.split() == Text.from_markup(text).plain.split()
    assert all(len(line) <= width for line in shown.splitlines() if "/a/path" not in line)


def test_in_a_pipe_lines_stay_whole():
    console = Console(file=StringIO(), width=20)
    print_wrapped(console, "a sentence that is longer than twenty columns")
    assert console.file.getvalue() == "a sentence that is longer than twenty columns\n"


@pytest.mark.parametrize("left_out", [0, 3])
def test_a_beginner_is_sent_to_the_first_lesson_that_is_not_skipped(space, left_out):
    skipped_stages.skip(space, GRADED[:left_out])
    console = screen()
    Session(console, space).begin()
    number = GRADED[left_out].number
    assert f"Start by reading lesson {number}, " in console.file.getvalue()
