"""What a process of pytest-xdist reports of a test."""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

# `--durations` leaves out what is shorter.
SHORT = 0.005


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send one short report of a test that passed, instead of three long ones and two events.

    Each message is packed, sent, unpacked and handled in Python. For 47,000 tests that takes more
    than a minute of processor time. Failures, skips and slow fixtures are reported in full.
    """
    config = item.config
    if not hasattr(config, "workerinput") or config.option.verbose > 0 \
            or config.getoption("xmlpath", None):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration >= SHORT:
            if report.passed:
                report.keywords = {}
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
