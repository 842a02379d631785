"""`minigrad learn` in a pseudo-terminal: what it shows is read, and keys are pressed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("pexpect.fdpexpect", reason="types into a pseudo-terminal")
pytest.importorskip("pty", reason="types into a pseudo-terminal")
pytest.importorskip("termios", reason="types into a pseudo-terminal")

import pty
import termios

import pexpect
from pexpect import fdpexpect

from minigrad_course.content.stages import checkout
from minigrad_course.learner.workspace import Workspace

ROOT = checkout()

_COMMAND = "import runpy; runpy.run_module('minigrad_course', run_name='__main__', alter_sys=True)"


class Terminal:
    """A terminal with `minigrad learn` in it.

    `limit` is another time limit for the tests of an exercise, `before` Python that runs first.
    """

    def __init__(self, space: Workspace, *words: str, limit: float | None = None,
                 before: str = "") -> None:
        if limit is not None:
            before += f"from minigrad_course.running import trial; trial.LIMIT = {limit}\n"
        how = ["-c", before + _COMMAND] if before else ["-m", "minigrad_course"]
        self.master, self.slave = pty.openpty()
        termios.tcsetwinsize(self.slave, (40, 100))
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [sys.executable, *how, "learn", "--polling", *words],
            stdin=self.slave, stdout=self.slave, stderr=self.slave, cwd=space.root,
            env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "TERM": "dumb"},
            # a program that is started in the background, as CI may be, ignores Ctrl-C
            preexec_fn=self._own_terminal, start_new_session=True)
        self.screen: Any = fdpexpect.fdspawn(self.master, encoding="utf-8", timeout=60)

    def _own_terminal(self) -> None:
        import fcntl

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def expect(self, text: str, timeout: int = 60) -> None:
        self.screen.expect(text, timeout=timeout)

    def send(self, text: str) -> None:
        self.screen.send(text)

    def left(self, within: float = 10) -> int:
        """Return the exit status; the terminal has to be as it was."""
        end = time.monotonic() + within
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self.screen.expect(pexpect.TIMEOUT, timeout=0.1)
            except pexpect.EOF:
                time.sleep(0.1)
        status = self.process.poll()
        assert status is not None, "it is still running"
        assert termios.tcgetattr(self.slave) == self.before
        return status

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.slave)
        os.close(self.master)


@contextmanager
def learning(space: Workspace, *words: str, limit: float | None = None,
             before: str = "") -> Iterator[Terminal]:
    terminal = Terminal(space, *words, limit=limit, before=before)
    try:
        yield terminal
    finally:
        terminal.close()
