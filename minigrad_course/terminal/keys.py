"""Read single keys from a terminal, and restore it however the program ends.

NOTE [One place changes the terminal]
    `Keys` switches line mode and echo off when it is entered and puts the old settings back when
    it is left; the thread that reads never touches them.  Ctrl-C, SIGTERM and SIGHUP arrive as
    events instead of exceptions, so that the way out is always the same.  A program that read
    keys from a terminal is at its end after that: Ctrl-C means nothing then and is ignored.  Only
    SIGKILL leaves a terminal without echo; nothing can be done against that.
"""

from __future__ import annotations

import importlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

__all__ = ["END", "Keys"]

#: One of the two is there.
termios: Any = importlib.import_module("termios") if os.name == "posix" else None
msvcrt: Any = importlib.import_module("msvcrt") if os.name == "nt" else None
#: The key that stands for the end of the input and for Ctrl-C.
END = "q"
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGCONT")


class Keys:
    """A context in which `pressed` is called with each key, from another thread.

    `ended` is the number of the signal that asks the program to end, 0 as long as none came.
    `drained` is set where keys come from a file or a pipe and there will be no more.
    """

    def __init__(self, pressed: Callable[[str], None]) -> None:
        self.pressed = pressed
        self.ended = 0
        self.over, self.drained = threading.Event(), threading.Event()
        self._settings: list[Any] | None = None
        self._before: dict[int, Any] = {}
        self._wake: tuple[int, int] | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Keys:
        if threading.current_thread() is threading.main_thread():
            for name in _SIGNALS:
                if hasattr(signal, name):
                    number = getattr(signal, name)
                    self._before[number] = signal.signal(number, self._signalled)
        read = self._lines
        if sys.stdin.isatty():
            read = self._windows if termios is None else self._posix
            if termios is not None:
                self._wake = os.pipe()
                self._settings = termios.tcgetattr(sys.stdin.fileno())
                self._character_mode()
        self._thread = threading.Thread(target=read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, error_type: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.over.set()
        if self._settings is not None and self._before:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            del self._before[signal.SIGINT]
        if self._wake is not None:
            os.write(self._wake[1], b"x")
            assert self._thread is not None
            self._thread.join(2)
            for end in self._wake:
                os.close(end)
        self._put_back()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        if number == getattr(signal, "SIGCONT", None):
            self._character_mode()
            return
        self.ended = 0 if number == signal.SIGINT else number
        self.pressed(END)

    def _character_mode(self) -> None:
        """Switch line mode and echo off; Ctrl-C and Ctrl-Z keep their meaning."""
        if self._settings is None:
            return
        terminal = sys.stdin.fileno()
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return  # in the background: the terminal is another program's
        changed = termios.tcgetattr(terminal)
        changed[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(terminal, termios.TCSANOW, changed)

    def _put_back(self) -> None:
        if self._settings is None:
            return
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._settings)
        except (termios.error, OSError):
            pass  # the terminal is gone
        finally:
            signal.signal(signal.SIGTTOU, before)

    def _posix(self) -> None:
        assert self._wake is not None
        terminal = sys.stdin.fileno()
        while not self.over.is_set():
            try:
                ready, _, _ = select.select([terminal, self._wake[0]], [], [])
                if self._wake[0] in ready:
                    return
                typed = os.read(terminal, 64).decode("utf-8", "ignore")
            except OSError:
                typed = ""
            if not typed or "\x04" in typed:  # the terminal is gone, or Ctrl-D
                self.pressed(END)
                return
            if not typed.startswith("\x1b"):  # an arrow or a function key is no letter
                for key in typed:
                    self.pressed(key)

    def _windows(self) -> None:
        while not self.over.wait(0.05):
            while msvcrt.kbhit():
                key = msvcrt.getwch()
                self.pressed(END if key in ("\x03", "\x04", "\x1a") else key)

    def _lines(self) -> None:
        for line in sys.stdin:  # piped: one key a line, so that a program can drive it
            self.pressed(line.strip()[:1])
        self.drained.set()
        self.pressed("")
