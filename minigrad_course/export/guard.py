"""Refuses to grade where what was handed in would run as the grader itself.

A platform's grader starts this first.  MINIGRAD_ANY_SANDBOX, which `export --verify` sets on a
machine of one's own, lets it pass.
"""

from __future__ import annotations

import os
import sys

from ..content.stages import CourseError
from ..grading.sandbox import best_sandbox

__all__ = ["main"]


def main() -> None:
    """Exit with a sentence where there is no sandbox, or where answers can be read in it."""
    try:
        kind = best_sandbox().method
    except CourseError as error:
        sys.exit(f"minigrad: nothing is graded: {error}")
    if kind == "limits" and not os.environ.get("MINIGRAD_ANY_SANDBOX"):
        sys.exit("minigrad: nothing is graded: no sandbox works here, so what was handed in could "
                 "read the seed and write results")


if __name__ == "__main__":
    main()
