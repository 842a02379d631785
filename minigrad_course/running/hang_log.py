"""Find out which test hung, and on which line, from the log of `faulthandler`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def read_hang_log(log: Path, plan: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return the exercise, its test and a message, from a log that `time_limits.py` wrote.

    The first line of the log has the exercise and the test.  The stack of each thread follows, last
    call first.  Returns `None` if the process ended for another reason.
    """
    try:
        first, _, stack = log.read_text(encoding="utf-8", errors="replace").partition("\n")
    except OSError:
        return None
    if "Timeout" not in stack:
        return None
    number, _, test = first.partition(" ")
    files = {*plan["files"].values(), *plan["own"]}
    running = next((f"; stopped at {Path(found[1]).name}, line {found[2]}, in {found[3]}"
                  for found in re.finditer(r'File "(.*?)", line (\d+) in (.*)', stack)
                  if found[1] in files), "")
    seconds = float(plan["limit"])
    return number, test, f"TimeLimit: it did not end within {seconds:g} seconds{running}"
