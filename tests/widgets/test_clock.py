"""The clock of the page's Python: it rises at each call, and follows the browser's."""

from __future__ import annotations

import faulthandler
import importlib
import queue
import signal
import sys
import threading
from pathlib import Path

import pytest

FOLDER = str(Path(__file__).resolve().parents[2] / "site" / "runtime" / "python")


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(sys, "path", [FOLDER, *sys.path])
    return importlib.import_module("clock")


def test_no_two_moments_are_the_same_and_the_clock_follows_the_browser_s(clock):
    told = iter([5000, 5000, 5000, 10000, 10000])
    now = clock.rising(lambda: next(told))
    assert [now() for _ in range(5)] == [5000, 5001, 5002, 10000, 10001]


def test_a_clock_that_began_anew_is_followed_down(clock):
    told = iter([9_000_000_000, 1000, 1000])
    now = clock.rising(lambda: next(told))
    assert [now() for _ in range(3)] == [9_000_000_000, 1000, 1001]


def test_a_wait_that_no_thread_can_end_raises(clock, monkeypatch):
    monkeypatch.setattr(threading.Condition, "wait", clock.ending(threading.Condition.wait))
    condition = threading.Condition()
    with condition:
        assert condition.wait(0.001) is False
        with pytest.raises(RuntimeError, match="can't start new thread"):
            condition.wait()
    with pytest.raises(queue.Empty):
        queue.Queue().get(timeout=0.001)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        queue.Queue().get()


def test_timers_are_told_to_the_page_and_what_python_has_comes_back(clock):
    told = []
    timers = clock.Timers(lambda *timer: told.append(timer))
    before = getattr(signal, "setitimer", None), faulthandler.dump_traceback_later
    with timers.installed():
        signal.setitimer(signal.ITIMER_PROF, 10.0, 1.0)
        signal.setitimer(signal.ITIMER_REAL, 30.0, 1.0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.dump_traceback_later(32, exit=True)
        faulthandler.cancel_dump_traceback_later()
    assert told == [(int(signal.SIGPROF), 10.0, 1.0), (int(signal.SIGALRM), 30.0, 1.0),
                    (int(signal.SIGPROF), 0, 0.0)]
    assert (getattr(signal, "setitimer", None), faulthandler.dump_traceback_later) == before
