"""What all tests share: random numbers, Hypothesis, and a line about the skipped ones."""

import gc
import random
import sys
from zlib import crc32

import numpy as np
import pytest
from hypothesis import settings

from tests import _oracle
from tests.support.reports import pytest_runtest_protocol  # noqa: F401  # pytest finds it here
from tests.support.skips import waiting
from tests.support.slow import DAY
from tests.support.temporary import keep_in_memory

keep_in_memory()  # before pytest-xdist starts its processes

# The name under which the course's tests import it: a learner's workspace has no folder `tests`.
sys.modules["_oracle"] = _oracle

settings.register_profile("minigrad", deadline=None)
settings.load_profile("minigrad")


@pytest.fixture
def seed():
    """Start the package's random numbers at 0 and hand out a NumPy generator that does too."""
    from minigrad.op.declaration import F

    F.manual_seed(0)
    return np.random.default_rng(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Start all random numbers at a number of the test's own, so that a failure comes again."""
    number = crc32(item.nodeid.encode())
    random.seed(number)
    np.random.seed(number)
    if frames := sys.modules.get("minigrad.frames"):
        frames._warned.clear()  # what a process is told once, each test is told once
    for engine in ("minigrad", "torch"):
        # torch.manual_seed takes thirty times as long, as it asks for each kind of device
        if generator := getattr(sys.modules.get(engine), "default_generator", None):
            generator.manual_seed(number)


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """Leave garbage alone while tests are collected: that halves the time for thirty thousand."""
    gc.disable()


def pytest_collection_finish():
    """Take the collected tests out of the garbage collector's sight.

    A few hundred tests collect garbage, and each would look through all the others: a second.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Say in one line what the skipped tests wait for, unless `-rs` lists them all.

    Where tests failed, say which day's sample was taken; see `slow_but_one_in`.
    """
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"MINIGRAD_DAY={DAY} takes the same sample of slow cases again")
    if not terminalreporter.hasopt("s"):
        skipped = terminalreporter.stats.get("skipped", ())
        if line := waiting(str(report.longrepr[2]) for report in skipped):
            terminalreporter.write_line(line)
