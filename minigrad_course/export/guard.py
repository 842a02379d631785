"""Refuse to grade if a submission would run as the grader itself.

A platform's grader starts this first.  With the variable MINIGRAD_ANY_SANDBOX, which
`export --verify` sets on your own machine, limits alone are enough.
"""

from __future__ import annotations

import os
import sys

from ..content.stages import CourseError
from ..grading.sandbox import best_sandbox

__all__ = ["main"]


def main() -> None:
    """Exit with a sentence if there is no sandbox, or if answers are readable in it."""
    try:
        kind = best_sandbox().method
    except CourseError as error:
        sys.exit(f"minigrad: refusing to grade: {error}")
    if kind == "limits" and not os.environ.get("MINIGRAD_ANY_SANDBOX"):
        sys.exit("minigrad: refusing to grade: no sandbox works here, so a submission could read "
                 "the seed and write results")


if __name__ == "__main__":
    main()
