"""The clock of the page's Python: it rises at each call, and follows the browser's."""

from __future__ import annotations

import importlib
import sys
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
