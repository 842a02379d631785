"""What all tests share: random numbers, Hypothesis, and a line about the skipped ones."""

import sys

import numpy as np
import pytest
from hypothesis import settings

from tests import _oracle
from tests.support.skips import waiting

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


def pytest_terminal_summary(terminalreporter):
    """Say in one line what the skipped tests wait for, unless `-rs` lists them all."""
    if not terminalreporter.hasopt("s"):
        skipped = terminalreporter.stats.get("skipped", ())
        if line := waiting(str(report.longrepr[2]) for report in skipped):
            terminalreporter.write_line(line)
