"""Which cases of a parametrised test `make test` runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

import pytest

# Set before pytest-xdist starts its processes, which have to choose alike.
DAY = int(os.environ.setdefault("MINIGRAD_DAY", str(date.today().toordinal())))

#: Whether to try all cases of the lists of which only today's sample is tried otherwise:
#: `make test-everything`.
ALL = os.environ.get("MINIGRAD_ALL_MUTANTS") == "1"


def slow_but(quick: int | Callable[[Any], bool], cases: Iterable[Any]) -> list[Any]:
    """Mark cases as slow, all but the first `quick` or those for which `quick` is true.

    Each stays a case of its own; `make test-all` runs them all.
    """
    return [case if (quick(case) if callable(quick) else number < quick) else slow(case)
            for number, case in enumerate(cases)]


def slow_but_one_in(count: int, cases: Iterable[Any], tried: int = 1) -> list[Any]:
    """Mark cases as slow, all but one in `count`: on each day others, so that all have their turn.

    This is for long lists whose cases find much the same. A run that fails says how its sample is
    taken again. If the slow ones take minutes, only one in `tried` runs each day; `tried` divides
    `count`.
    """
    cases = list(cases)
    return [case if (number + DAY) % count == 0 else slow_case
            for number, (case, slow_case) in enumerate(zip(cases, one_in(tried, cases),
                                                           strict=True))]


def one_in(count: int, cases: Iterable[Any]) -> list[Any]:
    """Mark cases as slow and skip all but one in `count`: on each day others are tried.

    This is for cases that take seconds and find much the same. `make test-everything` runs them
    all.
    """
    skipped = pytest.mark.skip(reason="MINIGRAD_ALL_MUTANTS=1 tries it")
    return [slow(case, *([] if ALL or (number + DAY) % count == 0 else [skipped]))
            for number, case in enumerate(cases)]


def today(count: int, cases: Iterable[Any]) -> list[Any]:
    """Return one case in `count`, on each day others, for a test with a loop; see `one_in`."""
    return [case for number, case in enumerate(cases) if ALL or (number + DAY) % count == 0]


def slow(case: Any, *more: pytest.MarkDecorator) -> Any:
    """Return a case of a parametrised test that `make test` leaves out."""
    known = isinstance(case, type(pytest.param()))
    values, marks, name = (case.values, case.marks, case.id) if known else (
        case if isinstance(case, tuple) else (case,), (), None)
    return pytest.param(*values, marks=[*marks, pytest.mark.slow, *more], id=name)
