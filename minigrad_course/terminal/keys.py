"""Read single keys from a terminal, and restore it however the program ends.

NOTE [One place changes the terminal]
    `Keys` turns line mode and echo off on entry and restores the settings on exit; the thread that
    reads keys never changes them.  Ctrl-C, SIGTERM and SIGHUP become events instead of exceptions,
    so that the program always exits in the same way.  After that it has nothing left to do, so
    Ctrl-C is ignored.  Only SIGKILL can leave the terminal without echo, and no program can prevent
    that.
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

#: One of the two is available.
termios: Any = importlib.import_module("termios") if os.name == "posix" else None
msvcrt: Any = importlib.import_module("msvcrt") if os.name == "nt" else None
#: The key for the end of the input and for Ctrl-C.
END = "q"
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGCONT")


class Keys:
    """A context in which `pressed` is called with each key, from another thread.

    `ended` is the number of the signal that asked the program to end, or 0.  `drained` is set when
    keys are read from a file or a pipe and there are no more.
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
        """Turn line mode and echo off; Ctrl-C and Ctrl-Z still work."""
        if self._settings is None:
            return
        terminal = sys.stdin.fileno()
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return  # in the background, where another program uses the terminal
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
            pass  # the terminal was closed
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
            if not typed or "\x04" in typed:  # the terminal was closed, or Ctrl-D
                self.pressed(END)
                return
            if not typed.startswith("\x1b"):  # ignore arrows and function keys
                for key in typed:
                    self.pressed(key)

    def _windows(self) -> None:
        while not self.over.wait(0.05):
            while msvcrt.kbhit():
                key = msvcrt.getwch()
                self.pressed(END if key in ("\x03", "\x04", "\x1a") else key)

    def _lines(self) -> None:
        for line in sys.stdin:  # from a pipe: one key per line, so that a program can send them
            self.pressed(line.strip()[:1])
        self.drained.set()
        self.pressed("")
