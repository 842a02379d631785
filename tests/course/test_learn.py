"""`minigrad learn` in a pseudo-terminal: keys at odd moments, endless code, every way out.

The terminal is looked at after the program has ended: echo and line mode have to be as before.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("merge3", reason="the course's commands need the extra 'course'")
pytest.importorskip("pexpect.fdpexpect", reason="types into a pseudo-terminal")
pytest.importorskip("pty", reason="types into a pseudo-terminal")
pytest.importorskip("termios", reason="types into a pseudo-terminal")

import termios

import pexpect

from minigrad_course.content import stages as course
from minigrad_course.learner.workspace import Workspace, make_workspace
from tests.support.terminal import Terminal, learning

ROOT = course.checkout()
STAGE = course.find_stage("05")
ENDLESS = "while True: pass"


@pytest.fixture
def space(tmp_path) -> Workspace:
    """A workspace in which everything is solved, by its progress and by its files."""
    made = make_workspace(tmp_path / "engine")
    for stage in course.stages():
        for path in stage.modules:
            shutil.copy(stage.solution(path), stage.exercise(path, made.exercises))
        made.record((hole, True) for hole in stage.holes)
    return made


def hooks(space: Workspace) -> Path:
    """Return the learner's file of 05.1, graph/hooks.py."""
    return STAGE.exercise("graph/hooks.py", space.exercises)


def spoil(space: Workspace, line: str) -> None:
    """Put a line at the beginning of RemovableHandle.__init__, which is part of 05.1."""
    solved = STAGE.solution("graph/hooks.py").read_text(encoding="utf-8")
    mark = "        self.id = next(self._ids)\n"
    assert solved.count(mark) == 1
    hooks(space).write_text(solved.replace(mark, f"        {line}\n{mark}"), encoding="utf-8")


def open_again(space: Workspace, *numbers: str) -> None:
    for stage in course.stages():
        space.record((hole, False) for hole in stage.holes if hole.id in numbers)


def raw(terminal: Terminal) -> bool:
    return not termios.tcgetattr(terminal.slave)[3] & termios.ECHO


@pytest.mark.slow
@pytest.mark.parametrize(("way", "moment"), [
    *((way, "at rest") for way in ("q", "\x04", "\x03", "SIGHUP")),
    *((way, "during a test") for way in ("q", "\x03", "SIGTERM")),
])
def test_every_way_out_puts_the_terminal_back(space, way, moment):
    if moment == "during a test":
        spoil(space, ENDLESS)
        open_again(space, "05.1")
    with learning(space) as terminal:
        terminal.expect("testing" if moment == "during a test" else "q quit")
        if moment == "during a test":
            time.sleep(1)
        assert raw(terminal)
        if way.startswith("SIG"):
            os.kill(terminal.process.pid, getattr(signal, way))
        else:
            terminal.send(way)
            if way == "\x03":  # and again on the way out
                for pause in (0, 0.05, 0.05, 0.05, 0.1):
                    time.sleep(pause)
                    terminal.send(way)
        status = 128 + getattr(signal, way) if way.startswith("SIG") else 0
        assert terminal.left() == status


@pytest.mark.slow
def test_keys_and_saves_are_heeded_while_a_test_does_not_end(space):
    spoil(space, ENDLESS)
    open_again(space, "05.1")
    with learning(space) as terminal:
        terminal.expect("stage 05, Hooks: testing")
        time.sleep(1)
        terminal.send("h")
        terminal.expect("05.1, hint 1 of 3", timeout=3)
        terminal.send("\x1b[A")  # an arrow is no key
        shutil.copy(STAGE.solution("graph/hooks.py"), hooks(space))
        os.utime(hooks(space))
        terminal.expect("testing")
        terminal.expect("solved +05.1 Handles and tables: 1 point")
        terminal.expect("stage 05 is solved")
        terminal.expect("Everything is solved")
        terminal.send("q")
        assert terminal.left() == 0


@pytest.mark.slow
def test_before_an_encore_it_names_the_capstone(space):
    open_again(space, *(hole.id for hole in course.find_stage("15").holes))
    with learning(space) as terminal:
        terminal.expect("This was the last stage before the capstone.")
        terminal.expect(r"minigrad\s+lesson\s+14\.\s+Stage\s+15\s+goes\s+on\s+after\s+it\.")
        terminal.expect("testing")
        terminal.send("q")
        assert terminal.left() == 0


@pytest.mark.slow
def test_an_exercise_that_does_not_end_is_named_with_its_line(space):
    spoil(space, ENDLESS)
    open_again(space, "05.1", "05.3")
    line = hooks(space).read_text(encoding="utf-8").splitlines().index(f"        {ENDLESS}") + 1
    with learning(space, limit=3) as terminal:
        terminal.expect("wrong +05.1 Handles and tables", timeout=90)
        terminal.expect("It did not end within 3 seconds; stopped at hooks.py, line "
                        rf"{line}, in\s+RemovableHandle.__init__ \(05.1\)\.")
        terminal.send("q")
        assert terminal.left() == 0


SLOW_TO_WATCH = """
import threading, time
start = threading.Thread.start
def start_late(self):
    run = self.run
    self.run = lambda: (time.sleep(2), run()) if "watch" in self.name else run()
    start(self)
threading.Thread.start = start_late
"""


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", SLOW_TO_WATCH], ids=["at once", "slow to watch"])
def test_the_stage_of_the_saved_file_is_tested_and_solved_is_withdrawn(space, before):
    with learning(space, before=before) as terminal:
        terminal.expect("Everything is solved")
        spoil(space, "raise ValueError('broken')")
        terminal.expect("stage 05, Hooks: testing")
        terminal.expect("05.1 was solved, but now fails")
        terminal.expect("wrong +05.1")
        assert not space.solved(STAGE.holes[0])
        terminal.send("q")
        assert terminal.left() == 0
    with learning(space) as terminal:  # and it is remembered
        terminal.expect("wrong +05.1")
        terminal.send("q")
        assert terminal.left() == 0


@pytest.mark.slow
def test_a_change_while_nobody_watched_is_tested_first(space):
    from minigrad_course.learner.next_step import note_tested

    note_tested(space, STAGE)
    spoil(space, "raise ValueError('broken')")
    with learning(space) as terminal:
        terminal.expect("05.1 was solved, but now fails")
        terminal.send("q")
        assert terminal.left() == 0


@pytest.mark.slow
def test_a_file_that_is_missing_for_a_while_ends_nothing(space):
    file = hooks(space)
    text = file.read_text(encoding="utf-8")
    with learning(space) as terminal:
        terminal.expect("q quit")
        for timeout in (10, 20, 60):  # whoever watches may not have seen the file yet
            file.unlink()
            try:
                terminal.expect("is missing; `minigrad reset 05` restores it", timeout=timeout)
                break
            except pexpect.TIMEOUT:
                file.write_text(text, encoding="utf-8")
                time.sleep(2)
        else:
            pytest.fail("nobody noticed that the file is missing")
        file.write_text(text, encoding="utf-8")
        terminal.expect("testing")
        terminal.expect("q quit")
        terminal.send("q")
        assert terminal.left() == 0


@pytest.mark.slow
def test_prints_of_an_answer_are_shown_in_learn(space):
    spoil(space, "print('handle', self.hooks is hooks)")
    open_again(space, "05.1")
    with learning(space) as terminal:
        terminal.expect(re.escape("05.1 printed in test_hooks_stand_in_the_order_of_registration"))
        terminal.expect("handle True")
        terminal.send("q")
        assert terminal.left() == 0


@pytest.mark.slow
def test_it_starts_where_one_says(space):
    open_again(space, *(hole.id for stage in course.stages() for hole in stage.holes))
    with learning(space, "--from", "07") as terminal:
        terminal.expect("skipped: 00, 01, 02, 03, 03b, 03c, 04a, 04b, 04c, 04d, 04e, 05, 06, 06b;")
        terminal.expect("stage 07, Grad modes: testing")
        terminal.send("q")
        assert terminal.left() == 0


@pytest.mark.slow
def test_keys_from_a_pipe_end_after_the_tests(space):
    open_again(space, "05.1")
    done = subprocess.run(
        [sys.executable, "-m", "minigrad_course", "learn"], input="h\n", text=True,
        capture_output=True, cwd=space.root, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert "05.1, hint 1 of 3" in done.stdout
    assert done.stdout.count("glossary.md, \"Names in the exercises\"") == 1
    assert "stage 05 is solved" in done.stdout
