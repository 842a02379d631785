"""Many small cases in one test: a test each would cost more than the cases themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def check_all(check: Callable[[Any], None], cases: Iterable[Any]) -> None:
    """Run a check on every case; raise what failed as one group, each error with its case."""
    failed = []
    for case in cases:
        try:
            check(case)
        except Exception as error:
            error.add_note(f"the case: {getattr(case, '__name__', case)}")
            failed.append(error)
    if failed:
        raise ExceptionGroup("some of the cases fail", failed)
